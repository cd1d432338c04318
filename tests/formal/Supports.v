(* thm-cr-count: at most cubically many supports. Which systems can lie above zero on a saddle? The proof is not that
   of the book, which counts the cells of an arrangement of planes: no four systems are cut out in all sixteen ways,
   and a family of sets that does this to no four points is small (the lemma of Sauer and Shelah). *)
Require Import Bool.
From Formal Require Export Interval Roots.

(* A set of the first K systems, as a list of yes and no. *)
Definition shatters (F : list (list bool)) (I : list nat) :=
  forall s, length s = length I -> exists x, In x F /\ map (fun i => nth i x false) I = s.

(* How many sets of K points there are, if no n points are shattered. *)
Fixpoint most n K : nat := match n, K with
  | O, _ => 0
  | S _, O => 1
  | S n', S K' => most n K' + most n' K' end.

Definition mem x (F : list (list bool)) := if in_dec (list_eq_dec bool_dec) x F then true else false.

Lemma mem_true x F : mem x F = true <-> In x F.
Proof. unfold mem. destruct (in_dec (list_eq_dec bool_dec) x F); split; auto; discriminate. Qed.

Lemma NoDup_tails (F : list (list bool)) y : NoDup F -> (forall x, In x F -> exists r, x = y :: r) ->
  NoDup (map (@tl bool) F).
Proof.
  intros N H. apply (NoDup_decides _ (fun x => x)); [|now rewrite map_id].
  intros x x' I I' E. destruct (H x I) as (r & ->), (H x' I') as (r' & ->). simpl in E. now subst.
Qed.

Theorem sauer_shelah : forall K n F,
  NoDup F -> (forall x, In x F -> length x = K) ->
  (forall I, length I = n -> ~ shatters F I) ->
  (length F <= most n K)%nat.
Proof.
  induction K as [|K IH]; intros n F N L Free.
  - destruct n as [|n].
    + destruct F as [|x F]; [simpl; lia|]. exfalso. apply (Free []); [reflexivity|].
      intros s Hs. exists x. split; [now left|]. destruct s; [reflexivity|discriminate].
    + assert (length F <= 1)%nat; [|simpl; lia]. apply (at_most_one (fun x : list bool => x)); [|now rewrite map_id].
      intros x y Ix Iy. apply L in Ix, Iy. destruct x, y; try discriminate. reflexivity.
  - destruct n as [|n].
    { destruct F as [|x F]; [simpl; lia|]. exfalso. apply (Free []); [reflexivity|].
      intros s Hs. exists x. split; [now left|]. destruct s; [reflexivity|discriminate]. }
    set (A := map (@tl bool) (filter (fun x => hd false x) F)).
    set (B := map (@tl bool) (filter (fun x => negb (hd false x)) F)).
    assert (InA : forall y, In y A <-> In (true :: y) F).
    { intros y. unfold A. rewrite in_map_iff. split.
      - intros (x & <- & I). apply filter_In in I as [I H]. destruct x as [|[|] x]; simpl in *; try discriminate.
        assumption.
      - intros I. exists (true :: y). split; [reflexivity|]. apply filter_In. now split. }
    assert (InB : forall y, In y B <-> In (false :: y) F).
    { intros y. unfold B. rewrite in_map_iff. split.
      - intros (x & <- & I). apply filter_In in I as [I H]. specialize (L x I).
        destruct x as [|[|] x]; simpl in *; try discriminate. assumption.
      - intros I. exists (false :: y). split; [reflexivity|]. apply filter_In. now split. }
    assert (NA : NoDup A).
    { apply (NoDup_tails _ true); [now apply NoDup_filter|]. intros x I. apply filter_In in I as [I H].
      destruct x as [|[|] x]; simpl in *; try discriminate. now exists x. }
    assert (NB : NoDup B).
    { apply (NoDup_tails _ false); [now apply NoDup_filter|]. intros x I. apply filter_In in I as [I H].
      specialize (L x I).
      destruct x as [|[|] x]; simpl in *; try discriminate. now exists x. }
    set (both := filter (fun x => mem x B) A). set (more := filter (fun x => negb (mem x B)) A).
    assert (Size : length F = (length (B ++ more) + length both)%nat).
    { rewrite app_length, (split_length (fun x => hd false x) F).
      assert (EA : length (filter (fun x => hd false x) F) = length A) by (unfold A; now rewrite map_length).
      assert (EB : length (filter (fun x => negb (hd false x)) F) = length B) by (unfold B; now rewrite map_length).
      rewrite EA, EB, (split_length (fun x => mem x B) A). unfold both, more. lia. }
    assert (InBoth : forall y, In y both <-> In (true :: y) F /\ In (false :: y) F).
    { intros y. unfold both. rewrite filter_In, mem_true, InA, InB. tauto. }
    assert (InMore : forall y, In y more -> In (true :: y) F /\ ~ In y B).
    { intros y I. unfold more in I. apply filter_In in I as [I H]. split; [now apply InA|].
      intros J. apply mem_true in J. rewrite J in H. discriminate. }
    rewrite Size. change (most (S n) (S K)) with (most (S n) K + most n K)%nat. apply Nat.add_le_mono.
    + apply IH.
      * apply NoDup_join; [assumption|now apply NoDup_filter|]. intros x I J. now apply InMore in J as [_ J].
      * intros x I. apply in_app_iff in I as [I|I]; [apply InB in I|apply InMore in I as [I _]]; apply L in I;
          simpl in I; lia.
      * intros I HI Sh. apply (Free (map S I)); [now rewrite map_length|].
        intros s Hs. rewrite map_length in Hs. destruct (Sh s Hs) as (y & Iy & Ey).
        assert (X : exists h, In (h :: y) F).
        { apply in_app_iff in Iy as [Iy|Iy]; [exists false; now apply InB|exists true; now apply InMore]. }
        destruct X as (h & X). exists (h :: y). split; [assumption|]. now rewrite map_map.
    + apply IH.
      * now apply NoDup_filter.
      * intros x I. apply InBoth in I as [I _]. apply L in I. simpl in I. lia.
      * intros I HI Sh. apply (Free (O :: map S I)); [simpl; now rewrite map_length, HI|].
        intros s Hs. destruct s as [|h s]; [discriminate|]. simpl in Hs. rewrite map_length in Hs.
        destruct (Sh s) as (y & Iy & Ey); [lia|]. apply InBoth in Iy as [Y1 Y2].
        exists (h :: y). split; [destruct h; assumption|]. simpl. now rewrite map_map, Ey.
Qed.

(* Three arrows in a plane are dependent, *)
Lemma three_arrows x1 y1 x2 y2 x3 y3 : exists p1 p2 p3,
  p1 * x1 + p2 * x2 + p3 * x3 = 0 /\ p1 * y1 + p2 * y2 + p3 * y3 = 0 /\ (p1 <> 0 \/ p2 <> 0 \/ p3 <> 0).
Proof.
  destruct (Req_dec (x2 * y3 - x3 * y2) 0) as [Z1|N];
    [|exists (x2 * y3 - x3 * y2), (x3 * y1 - x1 * y3), (x1 * y2 - x2 * y1); repeat split; try ring; tauto].
  destruct (Req_dec (x2 ^ 2 + y2 ^ 2) 0) as [Z2|N].
  - apply squares_zero in Z2 as [-> ->]. exists 0, 1, 0. repeat split; try ring. right. left. lra.
  - exists 0, (- (x2 * x3 + y2 * y3)), (x2 ^ 2 + y2 ^ 2). repeat split; [| |tauto].
    + replace (0 * x1 + - (x2 * x3 + y2 * y3) * x2 + (x2 ^ 2 + y2 ^ 2) * x3) with (- y2 * (x2 * y3 - x3 * y2)) by ring.
      rewrite Z1. ring.
    + replace (0 * y1 + - (x2 * x3 + y2 * y3) * y2 + (x2 ^ 2 + y2 ^ 2) * y3) with (x2 * (x2 * y3 - x3 * y2)) by ring.
      rewrite Z1. ring.
Qed.

(* so of any four points a weighted sum with total weight zero vanishes (Radon). *)
Lemma four_points (u v : nat -> R) i1 i2 i3 i4 : exists p1 p2 p3 p4,
  p1 + p2 + p3 + p4 = 0 /\ p1 * u i1 + p2 * u i2 + p3 * u i3 + p4 * u i4 = 0 /\
  p1 * v i1 + p2 * v i2 + p3 * v i3 + p4 * v i4 = 0 /\ (p1 <> 0 \/ p2 <> 0 \/ p3 <> 0 \/ p4 <> 0).
Proof.
  destruct (three_arrows (u i1 - u i4) (v i1 - v i4) (u i2 - u i4) (v i2 - v i4) (u i3 - u i4) (v i3 - v i4))
    as (p1 & p2 & p3 & U & V & N).
  exists p1, p2, p3, (- (p1 + p2 + p3)). repeat split; [ring|lra|lra|tauto].
Qed.

Definition above K (z : nat -> R) := map (fun k => if Rlt_dec 0 (z k) then true else false) (seq 0 K).

Lemma above_nth K z i : nth i (above K z) false = true <-> (i < K)%nat /\ 0 < z i.
Proof.
  unfold above. destruct (le_lt_dec K i) as [G|G].
  - rewrite nth_overflow by (rewrite map_length, seq_length; assumption). split; [discriminate|lia].
  - rewrite (nth_indep _ false (if Rlt_dec 0 (z O) then true else false)) by (rewrite map_length, seq_length;
      assumption).
    rewrite (map_nth (fun k => if Rlt_dec 0 (z k) then true else false)), seq_nth by assumption. simpl.
    destruct (Rlt_dec 0 (z i)); split; auto; try discriminate. intros [_ H]. contradiction.
Qed.

(* No four systems are cut out in all ways by saddles. *)
Lemma four_not_shattered K u v (F : list (list bool)) : (forall x, In x F ->
  exists h p q, x = above K (saddle u v h p q)) ->
  forall I, length I = 4%nat -> ~ shatters F I.
Proof.
  intros H I L Sh. destruct I as [|i1 [|i2 [|i3 [|i4 [|]]]]]; try discriminate.
  destruct (four_points u v i1 i2 i3 i4) as (p1 & p2 & p3 & p4 & P & U & V & N).
  set (pos := fun p => if Rlt_dec 0 p then true else false).
  assert (All : (i1 < K /\ i2 < K /\ i3 < K /\ i4 < K)%nat).
  { destruct (Sh [true; true; true; true] eq_refl) as (x & Ix & E). destruct (H x Ix) as (h & p & q & ->).
    injection E as E1 E2 E3 E4. apply above_nth in E1, E2, E3, E4. tauto. }
  assert (Level : forall h p q, p1 * saddle u v h p q i1 + p2 * saddle u v h p q i2 + p3 * saddle u v h p q i3
    + p4 * saddle u v h p q i4
    = p1 * (u i1 ^ 2 - v i1 ^ 2) + p2 * (u i2 ^ 2 - v i2 ^ 2) + p3 * (u i3 ^ 2 - v i3 ^ 2)
      + p4 * (u i4 ^ 2 - v i4 ^ 2)).
  { intros h p q. unfold saddle.
    match goal with |- ?l = ?r => replace l with (r + (p1 + p2 + p3 + p4) * (h + p ^ 2 - q ^ 2)
      - 2 * p * (p1 * u i1 + p2 * u i2 + p3 * u i3 + p4 * u i4) + 2 * q * (p1 * v i1 + p2 * v i2 + p3 * v i3
        + p4 * v i4)) by ring end.
    rewrite P, U, V. ring. }
  set (C := p1 * (u i1 ^ 2 - v i1 ^ 2) + p2 * (u i2 ^ 2 - v i2 ^ 2) + p3 * (u i3 ^ 2 - v i3 ^ 2)
    + p4 * (u i4 ^ 2 - v i4 ^ 2)) in *.
  assert (Sign : forall e, (e = 1 \/ e = -1) -> 0 <= e * C /\ (0 < e * p1 \/ 0 < e * p2 \/ 0 < e * p3 \/ 0 < e * p4 ->
    0 < e * C)).
  { intros e He. destruct (Sh [pos (e * p1); pos (e * p2); pos (e * p3); pos (e * p4)] eq_refl) as (x & Ix & E).
    destruct (H x Ix) as (h & p & q & ->). injection E as E1 E2 E3 E4. rewrite <- (Level h p q).
    set (z := saddle u v h p q) in *.
    assert (One : forall i p, (i < K)%nat -> nth i (above K z) false = pos (e * p) ->
      0 <= e * (p * z i) /\ (0 < e * p -> 0 < e * (p * z i))).
    { intros i r Hi X. unfold pos in X. destruct (Rlt_dec 0 (e * r)) as [Q|Q].
      - apply above_nth in X as [_ X]. assert (0 < e * r * z i) by now apply Rmult_lt_0_compat. split; lra.
      - assert (Y : ~ 0 < z i) by (intros Y; assert (Z : nth i (above K z) false = true) by (now apply above_nth);
          rewrite Z in X; discriminate).
        assert (0 <= (- (e * r)) * (- z i)) by (apply Rmult_le_pos; lra). split; [lra|contradiction]. }
    destruct All as (K1 & K2 & K3 & K4).
    pose proof (One i1 p1 K1 E1). pose proof (One i2 p2 K2 E2). pose proof (One i3 p3 K3 E3).
    pose proof (One i4 p4 K4 E4).
    split; [lra|]. intros [X|[X|[X|X]]]; intuition lra. }
  destruct (Sign 1 (or_introl eq_refl)) as [S1 S2]. destruct (Sign (-1) (or_intror eq_refl)) as [S3 S4].
  assert (0 = C) by lra.
  destruct (Rtotal_order p1 0) as [|[Z1|]]; [assert (0 < -1 * C) by (apply S4; lra); lra| |assert (0 < 1 * C)
    by (apply S2; lra); lra].
  destruct (Rtotal_order p2 0) as [|[Z2|]]; [assert (0 < -1 * C) by (apply S4; lra); lra| |assert (0 < 1 * C)
    by (apply S2; lra); lra].
  destruct (Rtotal_order p3 0) as [|[Z3|]]; [assert (0 < -1 * C) by (apply S4; lra); lra| |assert (0 < 1 * C)
    by (apply S2; lra); lra].
  destruct (Rtotal_order p4 0) as [|[Z4|]]; [assert (0 < -1 * C) by (apply S4; lra); lra| |assert (0 < 1 * C)
    by (apply S2; lra); lra].
  tauto.
Qed.

Fixpoint choose n k : nat := match n, k with
  | _, O => 1
  | O, S _ => 0
  | S n', S k' => choose n' k' + choose n' k end.

Lemma choose_0 n : choose n 0 = 1%nat.
Proof. now destruct n. Qed.

Lemma most_is_a_sum K : most 1 K = 1%nat /\ most 2 K = (1 + choose K 1)%nat /\ most 3 K
  = (1 + choose K 1 + choose K 2)%nat
  /\ most 4 K = (1 + choose K 1 + choose K 2 + choose K 3)%nat.
Proof.
  induction K as [|K (A & B & C & D)]; [repeat split; reflexivity|].
  assert (E : forall n, most (S n) (S K) = (most (S n) K + most n K)%nat) by reflexivity.
  assert (F : forall k, choose (S K) (S k) = (choose K k + choose K (S k))%nat) by reflexivity.
  rewrite !E, !F, choose_0, A, B, C, D. assert (most 0 K = 0%nat) as -> by now destruct K. repeat split; lia.
Qed.

(* thm-cr-count: saddles cut at most 1 + K + C(K, 2) + C(K, 3) different sets out of K systems. *)
Theorem few_supports : forall K u v l,
  NoDup l ->
  (forall x, In x l -> exists h p q, x = above K (saddle u v h p q)) ->
  (length l <= 1 + choose K 1 + choose K 2 + choose K 3)%nat.
Proof.
  intros K u v l N H. rewrite <- (proj2 (proj2 (proj2 (most_is_a_sum K)))). apply sauer_shelah; [assumption| |].
  - intros x I. destruct (H x I) as (h & p & q & ->). unfold above. now rewrite map_length, seq_length.
  - now apply (four_not_shattered K u v).
Qed.
