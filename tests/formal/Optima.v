(* How many optima can one target have? At most five on each support, and at most cubically many supports. *)
Require Import Bool.
From Formal Require Export Candidates Saddle Supports.

(* Sums over a part of the systems, as sums over a list and over its places. *)
Definition part (S : nat -> bool) K := filter S (seq 0 K).
Definition place_of (S : nat -> bool) K m := nth m (part S K) O.

Lemma sum_list (l : list nat) x : (Σ m < length l, x (nth m l O)) = fold_right (fun k r => x k + r) 0 l.
Proof.
  induction l as [|k l IH]; [reflexivity|]. simpl fold_right. rewrite <- IH. simpl length.
  generalize (length l). intros n. clear IH. induction n as [|n IHn]; cbn [sum] in *; [simpl; ring|]. rewrite IHn.
  simpl. ring.
Qed.

Lemma sum_part S K x : (forall k, (k < K)%nat -> S k = false -> x k = 0) ->
  sum K x = (Σ m < length (part S K), x (place_of S K m)).
Proof.
  intros Z. unfold place_of. rewrite sum_list. unfold part.
  induction K as [|K IH]; [reflexivity|]. cbn [sum]. rewrite IH by (intros; apply Z; [lia|assumption]).
  rewrite seq_S, filter_app, fold_right_app. simpl.
  destruct (S K) eqn:E; simpl.
  - assert (F : forall l r, fold_right (fun k r => x k + r) r l = fold_right (fun k r => x k + r) 0 l + r).
    { intros l r. induction l as [|k l IHl]; simpl; [ring|rewrite IHl; ring]. }
    rewrite (F _ (x K + 0)). ring.
  - rewrite (Z K) by (auto; lia). ring.
Qed.

Lemma place_inside S K m : (m < length (part S K))%nat -> (place_of S K m < K)%nat /\ S (place_of S K m) = true.
Proof.
  intros H. apply (nth_In _ O) in H. apply filter_In in H as [H E]. apply in_seq in H.
  split; [unfold place_of; lia|assumption].
Qed.

(* thm-a-five with thm-a-complete: at most five optima have one support. *)
Theorem five_per_support : forall K a f t S l,
  (forall w, In w l -> optimal K a f t w) ->
  (forall w, In w l -> forall k, (k < K)%nat -> (0 < w k <-> S k = true)) ->
  NoDup (map (weights K) l) -> (length l <= 5)%nat.
Proof.
  intros K a f t S l O H N. destruct l as [|w0 l']; [simpl; lia|]. set (l := w0 :: l') in *.
  assert (I0 : In w0 l) by now left.
  set (n := length (part S K)). set (j := place_of S K). set (less := fun (x : nat -> R) m => x (j m)).
  assert (Zero : forall w, In w l -> forall k, (k < K)%nat -> S k = false -> w k = 0).
  { intros w I k Hk E. destruct (proj1 (proj1 (proj1 (O w I))) k Hk) as [P|Z]; [|now symmetry].
    apply (H w I k Hk) in P. rewrite P in E. discriminate. }
  assert (Sums : forall w y, In w l -> (Σ k < K, w k * y k) = (Σ m < n, less w m * less y m)).
  { intros w y I. apply (sum_part S K (fun k => w k * y k)). intros k Hk E. rewrite (Zero w I k Hk E). ring. }
  assert (Mean : forall w x, In w l -> mean K w x = mean n (less w) (less x)) by (intros; now apply Sums).
  assert (Var : forall w x, In w l -> var K w x = var n (less w) (less x)).
  { intros w x I. unfold var. rewrite Mean by assumption. now rewrite (Sums w (fun k => x k ^ 2) I). }
  assert (Total : forall w, In w l -> sum n (less w) = 1).
  { intros w I. rewrite <- (proj2 (proj1 (proj1 (O w I)))). symmetry. apply (sum_part S K w). now apply Zero. }
  rewrite <- (map_length less).
  apply (five_candidates n (less a) (less f) t (less w0)).
  - destruct (O w0 I0) as [(W & Sp & B) _]. unfold reaches, balance, spread in *. rewrite !Var in * by assumption.
    repeat split; try assumption; [|now apply Total].
    intros m Hm. apply W. now apply place_inside.
  - intros m Hm. apply place_inside in Hm as [Hm E]. now apply (H w0 I0).
  - intros x I. apply in_map_iff in I as (w & <- & I). split; [now apply Total|split].
    + pose proof (reaches_b K a f t w (proj1 (O w I))) as B. unfold b in *. now rewrite !Var in B by assumption.
    + destruct (optimum_is_stationary K a f t w (O w I)) as (eta & lam & Q). exists eta, lam. intros m Hm.
      apply place_inside in Hm as [Hm E]. specialize (Q _ Hm (proj2 (H w I _ Hm) E)).
      unfold gradient in *. rewrite !Mean in Q by assumption. exact Q.
  - rewrite map_map. apply (NoDup_decides _ (weights K)); [|assumption]. intros w v Iw Iv E. apply weights_equal.
    intros k Hk. destruct (S k) eqn:Ek; [|now rewrite (Zero w Iw k Hk Ek), (Zero v Iv k Hk Ek)].
    assert (In k (part S K)) as Ik by (apply filter_In; split; [apply in_seq; lia|assumption]).
    apply (In_nth _ _ 0%nat) in Ik as (m & Hm & <-). fold n in Hm.
    assert (X : nth m (weights n (less w)) 0 = nth m (weights n (less v)) 0) by now rewrite E.
    unfold weights in X. rewrite !(nth_indep _ 0 (less w 0%nat)) in X by (rewrite map_length, seq_length; assumption).
    rewrite map_nth, (nth_indep _ _ (less v 0%nat)), map_nth, seq_nth in X by (try assumption;
      rewrite map_length, seq_length; assumption).
    exact X.
Qed.

(* If every class has at most m members, there are at most m times as many members as classes. *)
Lemma classes {A} (g : A -> list bool) m keys : forall l, (forall x, In x l -> In (g x) keys) ->
  (forall y l', (forall x, In x l' -> In x l /\ g x = y) -> (exists p, l' = filter p l) -> (length l' <= m)%nat) ->
  (length l <= m * length keys)%nat.
Proof.
  induction keys as [|y keys IH]; intros l H C.
  - destruct l as [|x l]; [simpl; lia|]. destruct (H x (or_introl eq_refl)).
  - set (p := fun x => if list_eq_dec bool_dec (g x) y then true else false). rewrite (split_length p l).
    assert (A1 : (length (filter p l) <= m)%nat).
    { apply (C y); [|now exists p]. intros x I. apply filter_In in I as [I E]. split; [assumption|].
      unfold p in E. now destruct (list_eq_dec bool_dec (g x) y). }
    assert (A2 : (length (filter (fun x => negb (p x)) l) <= m * length keys)%nat); [|simpl; lia].
    apply IH.
    + intros x I. apply filter_In in I as [I E]. destruct (H x I) as [Y|J]; [|assumption].
      unfold p in E. destruct (list_eq_dec bool_dec (g x) y); [discriminate E|congruence].
    + intros z l' Hl (q & ->). apply (C z).
      * intros x I. destruct (Hl x I) as [J E]. apply filter_In in J as [J _]. now split.
      * exists (fun x => negb (p x) && q x). clear. induction l as [|x l IHl]; [reflexivity|]. simpl.
        destruct (p x); simpl; [apply IHl|]. destruct (q x); simpl; now rewrite IHl.
Qed.

(* Away from the natural balance a target has at most 5 (1 + K + C(K, 2) + C(K, 3)) optima. *)
Theorem few_optima : forall K a f t l,
  t <> balance K a f (uniform K) ->
  (forall w, In w l -> optimal K a f t w) -> NoDup (map (weights K) l) ->
  (length l <= 5 * (1 + choose K 1 + choose K 2 + choose K 3))%nat.
Proof.
  intros K a f t l T O N. set (keys := nodup (list_eq_dec bool_dec) (map (above K) l)).
  assert (A : (length l <= 5 * length keys)%nat).
  { apply (classes (above K)).
    - intros x I. apply nodup_In, in_map, I.
    - intros y l' H (p & ->). apply (five_per_support K a f t (fun k => nth k y false)).
      + intros w I. now apply O, H.
      + intros w I k Hk. destruct (H w I) as [_ <-]. rewrite above_nth. tauto.
      + now apply NoDup_filter_map. }
  assert (B : (length keys <= 1 + choose K 1 + choose K 2 + choose K 3)%nat); [|lia].
  destruct l as [|w0 l']; [simpl; lia|].
  pose proof (balance_range K a f t w0 (proj1 (O w0 (or_introl eq_refl)))) as Share.
  set (x := fun k => sqrt (1 - t) * a k). set (y := fun k => sqrt t * f k).
  assert (Sx : sqrt (1 - t) ^ 2 = 1 - t) by (rewrite <- Rsqr_pow2; apply Rsqr_sqrt; lra).
  assert (Sy : sqrt t ^ 2 = t) by (rewrite <- Rsqr_pow2; apply Rsqr_sqrt; lra).
  assert (Ext : forall z z' : nat -> R, (forall k, (k < K)%nat -> (0 < z k <-> 0 < z' k)) -> above K z = above K z').
  { intros z z' H. apply map_ext_in. intros k I. apply in_seq in I. specialize (H k ltac:(lia)).
    destruct (Rlt_dec 0 (z k)), (Rlt_dec 0 (z' k)); tauto. }
  assert (Clip : forall c d, d = Rmax 0 c -> (0 < d <-> 0 < c)).
  { intros c d ->. destruct (Rle_dec c 0); [rewrite Rmax_left by lra; lra|rewrite Rmax_right by lra; tauto]. }
  assert (Around : forall w k, around K a f t w k
    = (x k - sqrt (1 - t) * mean K w a) ^ 2 - (y k - sqrt t * mean K w f) ^ 2).
  { intros w k. unfold around, x, y.
    replace ((sqrt (1 - t) * a k - sqrt (1 - t) * mean K w a) ^ 2 - (sqrt t * f k - sqrt t * mean K w f) ^ 2)
      with (sqrt (1 - t) ^ 2 * (a k - mean K w a) ^ 2 - sqrt t ^ 2 * (f k - mean K w f) ^ 2) by ring.
      now rewrite Sx, Sy. }
  destruct (Rtotal_order t (balance K a f (uniform K))) as [L|[E|L]]; [|contradiction|].
  - apply (few_supports K y x); [apply NoDup_nodup|]. intros s I. apply nodup_In, in_map_iff in I as (w & <- & I).
    destruct (clipped_saddle K a f t w (O w I) T) as (eta & Sg & C). assert (P : 0 < eta) by nra.
    exists (collision K w / eta), (sqrt t * mean K w f), (sqrt (1 - t) * mean K w a). apply Ext. intros k Hk.
    rewrite (Clip _ _ (C k Hk)), Around. unfold saddle. set (X := (x k - _) ^ 2). set (Y := (y k - _) ^ 2).
    replace (collision K w - eta * (X - Y)) with (eta * (collision K w / eta + Y - X)) by (field; lra).
    split; intros Q; [apply Rmult_lt_reg_l with eta; lra|now apply Rmult_lt_0_compat].
  - apply (few_supports K x y); [apply NoDup_nodup|]. intros s I. apply nodup_In, in_map_iff in I as (w & <- & I).
    destruct (clipped_saddle K a f t w (O w I) T) as (eta & Sg & C). assert (P : 0 < - eta) by nra.
    exists (collision K w / - eta), (sqrt (1 - t) * mean K w a), (sqrt t * mean K w f). apply Ext. intros k Hk.
    rewrite (Clip _ _ (C k Hk)), Around. unfold saddle. set (X := (x k - _) ^ 2). set (Y := (y k - _) ^ 2).
    replace (collision K w - eta * (X - Y)) with (- eta * (collision K w / - eta + X - Y)) by (field; lra).
    split; intros Q; [apply Rmult_lt_reg_l with (- eta); lra|now apply Rmult_lt_0_compat].
Qed.
