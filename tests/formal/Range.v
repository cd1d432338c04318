(* What a support and what a pool can reach: thm-a-admissible (thm-35-admissible) and thm-range, corrected. *)
Require Import Ranalysis.
From Formal Require Export Pairs.

Definition segment (v w : nat -> R) s k := v k + s * (w k - v k).

Lemma segment_weighting K v w s : weighting K v -> weighting K w -> 0 <= s <= 1 -> weighting K (segment v w s).
Proof.
  intros [V SV] [W SW] Hs. split.
  - intros k Hk. specialize (V k Hk). specialize (W k Hk). unfold segment. nra.
  - unfold segment. replace (Σ k < K, (v k + s * (w k - v k))) with ((1 - s) * sum K v + s * sum K w).
    + rewrite SV, SW. ring.
    + rewrite <- !sum_scale, <- sum_plus. apply sum_ext. intros. ring.
Qed.

(* On a segment the constraint is a quadratic function, *)
Lemma b_segment K a f t v w : exists A B,
  forall s, b K a f t (segment v w s) = A * s ^ 2 + B * s + b K a f t v.
Proof.
  set (d := fun k => w k - v k).
  assert (M : forall s x, mean K (segment v w s) x = mean K v x + s * mean K d x).
  { intros s x. unfold mean, segment, d. rewrite <- sum_scale, <- sum_plus. apply sum_ext. intros. ring. }
  assert (V : forall s x, var K (segment v w s) x
    = var K v x + s * ((Σ k < K, d k * x k ^ 2) - 2 * mean K v x * mean K d x) - s ^ 2 * mean K d x ^ 2).
  { intros s x. unfold var. rewrite M.
    replace (Σ k < K, segment v w s k * x k ^ 2) with ((Σ k < K, v k * x k ^ 2) + s * (Σ k < K, d k * x k ^ 2));
      [ring|].
    rewrite <- sum_scale, <- sum_plus. apply sum_ext. intros. unfold segment, d. ring. }
  exists (t * mean K d f ^ 2 - (1 - t) * mean K d a ^ 2).
  exists ((1 - t) * ((Σ k < K, d k * a k ^ 2) - 2 * mean K v a * mean K d a)
          - t * ((Σ k < K, d k * f k ^ 2) - 2 * mean K v f * mean K d f)).
  intros s. unfold b. rewrite !V. ring.
Qed.

(* so it passes zero where it changes its sign. *)
Lemma b_crosses K a f t v w : b K a f t v * b K a f t w <= 0 ->
  exists s, 0 <= s <= 1 /\ b K a f t (segment v w s) = 0.
Proof.
  intros H. destruct (b_segment K a f t v w) as (A & B & E).
  set (q := fun s => A * s ^ 2 + B * s + b K a f t v).
  assert (C : continuity q) by (unfold q; reg).
  assert (Q1 : q 1 = b K a f t w).
  { unfold q. rewrite <- E. apply b_ext. intros. unfold segment. ring. }
  assert (Q0 : q 0 = b K a f t v) by (unfold q; ring).
  destruct (IVT_cor q 0 1 C) as [s [Hs Z]]; [lra|rewrite Q0, Q1; assumption|].
  exists s. split; [assumption|]. rewrite E. exact Z.
Qed.

(* Half the weight on each system of a pair. *)
Definition midpoint i j k := (at_ i k + at_ j k) / 2.

Lemma midpoint_sum K i j x : (i < K)%nat -> (j < K)%nat -> (Σ k < K, midpoint i j k * x k) = (x i + x j) / 2.
Proof.
  intros Hi Hj. unfold midpoint.
  rewrite (sum_ext K _ (fun k => / 2 * (at_ i k * x k) + / 2 * (at_ j k * x k))) by (intros; field).
  rewrite sum_plus, !sum_scale, !sum_at by assumption. field.
Qed.

Lemma midpoint_weighting K i j : (i < K)%nat -> (j < K)%nat -> weighting K (midpoint i j).
Proof.
  intros Hi Hj. split.
  - intros. unfold midpoint, at_. destruct (Nat.eq_dec k i), (Nat.eq_dec k j); lra.
  - rewrite (sum_ext K _ (fun k => midpoint i j k * 1)) by (intros; ring). rewrite midpoint_sum by assumption. field.
Qed.

Lemma midpoint_var K i j x : (i < K)%nat -> (j < K)%nat -> var K (midpoint i j) x = (x i - x j) ^ 2 / 4.
Proof. intros Hi Hj. unfold var, mean. rewrite !midpoint_sum by assumption. field. Qed.

(* A pair alone has its pair balance. *)
Lemma midpoint_b K a f t i j : (i < K)%nat -> (j < K)%nat -> 0 < distance a f i j ->
  b K a f t (midpoint i j) = (pair_balance a f i j - t) * distance a f i j / 4.
Proof.
  intros Hi Hj D. unfold b. rewrite !midpoint_var by assumption. unfold pair_balance.
  replace (((a i - a j) ^ 2 / distance a f i j - t) * distance a f i j / 4)
    with (((a i - a j) ^ 2 - t * distance a f i j) / 4) by (field; lra).
  unfold distance. field.
Qed.

(* Two systems that differ and have weight make a variance. *)
Lemma spread_positive K a f w i j : weighting K w -> (i < j < K)%nat -> 0 < w i -> 0 < w j -> 0 < distance a f i j ->
  0 < spread K a f w.
Proof.
  intros H Hij Wi Wj D. rewrite spread_pairs by apply H.
  apply Rlt_le_trans with (w i * w j * distance a f i j); [apply Rmult_lt_0_compat; nra|].
  apply (pairs_term K (fun i j => w i * w j * distance a f i j)); [|assumption].
  intros. apply Rmult_le_pos; [now apply (weighting_pair K w)|apply distance_nonneg].
Qed.

(* If every pair with weight on both its systems satisfies x ≤ 0, so does the sum; and with one that is below zero it
   is below. *)
Lemma pairs_neg K w x : weighting K w -> (forall i j, (i < j < K)%nat -> 0 < w i -> 0 < w j -> x i j <= 0) ->
  pairs K (fun i j => w i * w j * x i j) <= 0
  /\ (pairs K (fun i j => w i * w j * x i j) = 0 -> forall i j, (i < j < K)%nat -> 0 < w i -> 0 < w j -> x i j = 0).
Proof.
  intros H X. set (y := fun i j => - (w i * w j * x i j)).
  assert (E : pairs K y = - pairs K (fun i j => w i * w j * x i j)).
  { unfold y. replace (- pairs K _) with (-1 * pairs K (fun i j => w i * w j * x i j)) by ring.
    rewrite <- pairs_scale. apply pairs_ext. intros. ring. }
  assert (Y : forall i j, (i < j < K)%nat -> 0 <= y i j).
  { intros i j Hij. unfold y. assert (Wi : 0 <= w i) by (apply H; lia). assert (Wj : 0 <= w j) by (apply H; lia).
    destruct Wi as [Wi|<-]; [|lra]. destruct Wj as [Wj|<-]; [|lra].
    specialize (X i j Hij Wi Wj). assert (0 < w i * w j) by now apply Rmult_lt_0_compat. nra. }
  split.
  - pose proof (pairs_nonneg K y Y). lra.
  - intros Z i j Hij Wi Wj. pose proof (pairs_term K y Y i j Hij) as T. pose proof (Y i j Hij).
    unfold y in *. assert (0 < w i * w j) by now apply Rmult_lt_0_compat. nra.
Qed.

(* What a pair adds to the constraint. *)
Lemma pair_part a f t i j : (1 - t) * (a i - a j) ^ 2 - t * (f i - f j) ^ 2
  = (pair_balance a f i j - t) * distance a f i j.
Proof.
  unfold pair_balance. destruct (Req_dec (distance a f i j) 0) as [Z|Z].
  - rewrite Z. apply squares_zero in Z as [-> ->]. ring.
  - replace (((a i - a j) ^ 2 / distance a f i j - t) * distance a f i j)
      with ((a i - a j) ^ 2 - t * distance a f i j) by (field; assumption). unfold distance. ring.
Qed.

(* Two systems of the pool that differ; two that differ and both have weight. *)
Definition pool_pair K a f i j := (i < j < K)%nat /\ 0 < distance a f i j.
Definition support_pair K a f w i j :=
  pool_pair K a f i j /\ 0 < w i /\ 0 < w j.

(* Among finitely many pairs one can look for one. *)
Lemma find K (P : nat -> Prop) : (forall k, {P k} + {~ P k}) ->
  (exists k, (k < K)%nat /\ P k) \/ (forall k, (k < K)%nat -> ~ P k).
Proof.
  intros D. induction K as [|n IH]; [right; lia|].
  destruct (D n) as [Y|N]; [left; exists n; split; [lia|assumption]|].
  destruct IH as [(k & L & Y)|A]; [left; exists k; split; [lia|assumption]|right].
  intros k Hk. destruct (Nat.eq_dec k n) as [->|]; [assumption|apply A; lia].
Qed.

Lemma find_pair K (P : nat -> nat -> Prop) : (forall i j, {P i j} + {~ P i j}) ->
  (exists i j, (i < j < K)%nat /\ P i j) \/ (forall i j, (i < j < K)%nat -> ~ P i j).
Proof.
  intros D. induction K as [|n IH]; [right; lia|].
  destruct IH as [(i & j & L & Y)|A]; [left; exists i, j; split; [lia|assumption]|].
  destruct (find n (fun i => P i n)) as [(i & L & Y)|B]; [auto|left; exists i, n; split; [lia|assumption]|right].
  intros i j Hij. destruct (Nat.eq_dec j n) as [->|]; [apply B; lia|apply A; lia].
Qed.

Lemma support_pair_dec a f (w : nat -> R) i j (Q : Prop) : {Q} + {~ Q} ->
  {(0 < distance a f i j /\ 0 < w i /\ 0 < w j) /\ Q} + {~ ((0 < distance a f i j /\ 0 < w i /\ 0 < w j) /\ Q)}.
Proof.
  intros [q|q]; [|right; tauto]. destruct (Rlt_dec 0 (distance a f i j)); [|right; tauto].
  destruct (Rlt_dec 0 (w i)); [|right; tauto]. destruct (Rlt_dec 0 (w j)); [left|right]; tauto.
Qed.

(* If b = 0, some pair of the support lies on either side of the target, or all lie on it: s = 1 for below, s = −1 for
   above. *)
Lemma one_side K a f t w s : weighting K w -> b K a f t w = 0 ->
  (exists i j, support_pair K a f w i j /\ s * (pair_balance a f i j - t) < 0)
  \/ (forall i j, support_pair K a f w i j -> s * (pair_balance a f i j - t) = 0).
Proof.
  intros H B. unfold support_pair, pool_pair.
  destruct (find_pair K (fun i j => (0 < distance a f i j /\ 0 < w i /\ 0 < w j) /\ s * (pair_balance a f i j - t) < 0))
    as [(i & j & L & Y)|A].
  - intros. apply support_pair_dec, Rlt_dec.
  - left. exists i, j. tauto.
  - right. set (x := fun i j => - (s * (pair_balance a f i j - t)) * distance a f i j).
    destruct (pairs_neg K w x H) as [_ Z].
    + intros i j L Wi Wj. unfold x. pose proof (distance_nonneg a f i j) as [D|D]; [|rewrite <- D; lra].
      specialize (A i j L). assert (~ s * (pair_balance a f i j - t) < 0) by tauto. nra.
    + intros i j ((L & D) & Wi & Wj).
      assert (X : x i j = 0).
      { apply Z; auto.
        rewrite (pairs_ext K _ (fun i j => - s * (w i * w j * ((1 - t) * (a i - a j) ^ 2 - t * (f i - f j) ^ 2)))).
        - rewrite pairs_scale, <- constraint_over_pairs, B by apply H. ring.
        - intros. rewrite pair_part. unfold x. ring. }
      unfold x in X. nra.
Qed.

(* thm-a-admissible: β(w) lies strictly between two pair balances of the support, or all of them are equal to it. *)
Theorem admissible : forall K a f t w, reaches K a f t w ->
  (exists i j, support_pair K a f w i j /\ pair_balance a f i j < t)
  /\ (exists i j, support_pair K a f w i j /\ t < pair_balance a f i j)
  \/ (forall i j, support_pair K a f w i j -> pair_balance a f i j = t).
Proof.
  intros K a f t w R. assert (B : b K a f t w = 0) by (apply reaches_iff; try assumption; apply R).
  destruct (one_side K a f t w 1 (proj1 R) B) as [(i & j & S & L)|A].
  - destruct (one_side K a f t w (-1) (proj1 R) B) as [(i' & j' & S' & L')|A].
    + left. split; [exists i, j|exists i', j']; split; try assumption; lra.
    + right. intros i' j' S'. specialize (A i' j' S'). lra.
  - right. intros i j S. specialize (A i j S). lra.
Qed.

Lemma segment_at_one K a f t v w : b K a f t (segment v w 1) = b K a f t w.
Proof. apply b_ext. intros. unfold segment. ring. Qed.

Lemma midpoint_inside i j k : 0 <= midpoint i j k /\ 0 < midpoint i j i /\ 0 < midpoint i j j
  /\ (0 < midpoint i j k -> k = i \/ k = j).
Proof.
  unfold midpoint, at_. destruct (Nat.eq_dec i i), (Nat.eq_dec j j); try lia.
  destruct (Nat.eq_dec k i), (Nat.eq_dec k j), (Nat.eq_dec i j), (Nat.eq_dec j i); repeat split; try lia; try lra; auto.
Qed.

(* From any weighting walk towards one pair of its support that lies on the other side of the target. *)
Lemma walk_to_pair K a f t v i j : weighting K v -> support_pair K a f v i j ->
  b K a f t v * (pair_balance a f i j - t) < 0 ->
  exists w, reaches K a f t w /\ forall k, (k < K)%nat -> (0 < w k <-> 0 < v k).
Proof.
  intros V ((L & D) & Vi & Vj) X.
  assert (Hi : (i < K)%nat) by lia. assert (Hj : (j < K)%nat) by lia.
  pose proof (midpoint_b K a f t i j Hi Hj D) as M.
  destruct (b_crosses K a f t v (midpoint i j)) as (s & Hs & Z).
  { rewrite M. set (x := b K a f t v) in *. set (y := pair_balance a f i j - t) in *.
    assert (x * y * distance a f i j < 0) by nra. lra. }
  assert (s < 1).
  { destruct (proj2 Hs) as [|E]; [assumption|exfalso]. rewrite E, segment_at_one, M in Z.
    assert (pair_balance a f i j - t = 0) as Y by (apply Rmult_eq_reg_r with (distance a f i j); lra).
    rewrite Y in X. lra. }
  assert (S : forall k, (k < K)%nat -> (0 < segment v (midpoint i j) s k <-> 0 < v k)).
  { intros k Hk. pose proof (midpoint_inside i j k) as (M0 & _ & _ & Mk). pose proof (proj1 V k Hk).
    unfold segment. split.
    - intros P. destruct (Req_dec (v k) 0) as [E|]; [|lra]. rewrite E in P.
      assert (0 < midpoint i j k) by nra. destruct (Mk ltac:(assumption)) as [->| ->]; assumption.
    - intros P. nra. }
  assert (W : weighting K (segment v (midpoint i j) s)).
  { apply segment_weighting; [assumption|now apply midpoint_weighting|lra]. }
  exists (segment v (midpoint i j) s). split; [|assumption].
  apply reaches_iff; try assumption. apply (spread_positive K a f _ i j); try assumption; apply S; assumption.
Qed.

(* The converse: such a target is reached with the very same support. *)
Theorem admissible_converse : forall K a f t v, weighting K v ->
  (exists i j, support_pair K a f v i j /\ pair_balance a f i j < t) ->
  (exists i j, support_pair K a f v i j /\ t < pair_balance a f i j) ->
  exists w, reaches K a f t w
            /\ forall k, (k < K)%nat -> (0 < w k <-> 0 < v k).
Proof.
  intros K a f t v V (i & j & P & L) (i' & j' & P' & L').
  destruct (Rtotal_order (b K a f t v) 0) as [N|[Z|N]].
  - apply (walk_to_pair K a f t v i' j'); try assumption. nra.
  - exists v. split; [|tauto]. apply reaches_iff; try assumption.
    destruct P as ((Hij & D) & Vi & Vj). now apply (spread_positive K a f v i j).
  - apply (walk_to_pair K a f t v i j); try assumption. nra.
Qed.

(* A variance needs two systems that differ. *)
Lemma spread_needs_pair K a f w : weighting K w -> 0 < spread K a f w -> exists i j, support_pair K a f w i j.
Proof.
  intros H P. destruct (find_pair K (fun i j => (0 < distance a f i j /\ 0 < w i /\ 0 < w j) /\ True))
    as [(i & j & L & Y)|A].
  - intros. apply support_pair_dec. now left.
  - exists i, j. unfold support_pair, pool_pair. tauto.
  - exfalso. rewrite spread_pairs in P by apply H.
    destruct (pairs_neg K w (distance a f) H) as [N _]; [|lra].
    intros i j L Wi Wj. specialize (A i j L). pose proof (distance_nonneg a f i j) as [D|D]; [tauto|lra].
Qed.

(* The smallest and the largest pair balance of a pool, βmin and βmax. *)
Definition lowest K a f low :=
  (exists i j, pool_pair K a f i j /\ pair_balance a f i j = low)
  /\ forall i j, pool_pair K a f i j -> low <= pair_balance a f i j.
Definition highest K a f high :=
  (exists i j, pool_pair K a f i j /\ pair_balance a f i j = high)
  /\ forall i j, pool_pair K a f i j -> pair_balance a f i j <= high.

Lemma least_pair K (P : nat -> nat -> Prop) (x : nat -> nat -> R) : (forall i j, {P i j} + {~ P i j}) ->
  (exists i j, (i < j < K)%nat /\ P i j) ->
  exists i j, (i < j < K)%nat /\ P i j /\ forall i' j', (i' < j' < K)%nat -> P i' j' -> x i j <= x i' j'.
Proof.
  intros D (i & j & L & Y).
  (* one by one: every pair that is smaller than the best so far takes its place *)
  enough (H : forall n, exists i j, (i < j < K)%nat /\ P i j /\
    forall i' j', (i' < j' < K)%nat -> (j' * K + i' < n)%nat -> P i' j' -> x i j <= x i' j').
  { destruct (H (K * K)%nat) as (p & q & Lp & Yp & B). exists p, q. repeat split; try lia; try assumption.
    intros i' j' L'. apply B; [assumption|]. nia. }
  induction n as [|n (p & q & Lp & Yp & B)]; [exists i, j; repeat split; try lia; assumption|].
  set (j' := (n / K)%nat). set (i' := (n mod K)%nat).
  assert (Code : forall u v, (u < v < K)%nat -> (v * K + u = n)%nat -> v = j' /\ u = i').
  { intros u v Luv E. unfold i', j'. split.
    - apply (Nat.div_unique n K v u); lia.
    - apply (Nat.mod_unique n K v u); lia. }
  destruct (D i' j') as [Y'|N'].
  - destruct (le_lt_dec j' i') as [G|G]; [|destruct (le_lt_dec K j') as [G'|G']].
    1, 2: exists p, q; repeat split; try lia; try assumption; intros u v Luv E Yu;
      destruct (Nat.eq_dec (v * K + u) n) as [En|]; [destruct (Code u v Luv En); lia|apply B; auto; lia].
    destruct (Rle_dec (x p q) (x i' j')) as [Le|Le].
    + exists p, q. repeat split; try lia; try assumption. intros u v Luv E Yu.
      destruct (Nat.eq_dec (v * K + u) n) as [En|]; [destruct (Code u v Luv En) as [-> ->]; assumption|apply B; auto;
        lia].
    + exists i', j'. repeat split; try lia; try assumption. intros u v Luv E Yu.
      destruct (Nat.eq_dec (v * K + u) n) as [En|]; [destruct (Code u v Luv En) as [-> ->]; lra|].
      assert (x p q <= x u v) by (apply B; auto; lia). lra.
  - exists p, q. repeat split; try lia; try assumption. intros u v Luv E Yu.
    destruct (Nat.eq_dec (v * K + u) n) as [En|]; [destruct (Code u v Luv En) as [-> ->]; contradiction|apply B; auto;
      lia].
Qed.

(* A pool with two systems that differ has both. *)
Theorem range_exists : forall K a f i j, pool_pair K a f i j ->
  exists low high, lowest K a f low /\ highest K a f high.
Proof.
  intros K a f i j [L D].
  assert (Dec : forall i j, {0 < distance a f i j} + {~ 0 < distance a f i j}) by (intros; apply Rlt_dec).
  destruct (least_pair K (fun i j => 0 < distance a f i j) (pair_balance a f) Dec) as (p & q & Lp & Dp & B);
    [now exists i, j|].
  destruct (least_pair K (fun i j => 0 < distance a f i j) (fun i j => - pair_balance a f i j) Dec)
    as (p' & q' & Lp' & Dp' & B'); [now exists i, j|].
  exists (pair_balance a f p q), (pair_balance a f p' q'). split; split.
  - exists p, q. repeat split; try lia; assumption.
  - intros u v [Lu Du]. now apply B.
  - exists p', q'. repeat split; try lia; assumption.
  - intros u v [Lu Du]. pose proof (B' u v Lu Du). lra.
Qed.

(* thm-range, corrected: a target is reached, with variance, exactly if it lies between the two. *)
Theorem reachable_range : forall K a f t low high,
  lowest K a f low -> highest K a f high ->
  ((exists w, reaches K a f t w) <-> low <= t <= high).
Proof.
  intros K a f t low high [(i & j & (L & D) & E) Low] [(i' & j' & (L' & D') & E') High]. split.
  - intros (w & R). destruct (admissible K a f t w R) as [[(k & l & S & Below) (k' & l' & S' & Above)]|A].
    + specialize (Low k l (proj1 S)). specialize (High k' l' (proj1 S')). lra.
    + destruct R as (W & P & _). destruct (spread_needs_pair K a f w W P) as (k & l & S). rewrite <- (A k l S).
      split; [apply Low|apply High]; apply S.
  - intros T. assert (Hi : (i < K)%nat) by lia. assert (Hj : (j < K)%nat) by lia.
    assert (Hi' : (i' < K)%nat) by lia. assert (Hj' : (j' < K)%nat) by lia.
    pose proof (midpoint_b K a f t i j Hi Hj D) as M. pose proof (midpoint_b K a f t i' j' Hi' Hj' D') as M'.
    destruct (b_crosses K a f t (midpoint i j) (midpoint i' j')) as (s & Hs & Z).
    { rewrite M, M', E, E'. assert (0 <= (t - low) * distance a f i j) by (apply Rmult_le_pos; lra).
      assert (0 <= (high - t) * distance a f i' j') by (apply Rmult_le_pos; lra). nra. }
    assert (W : weighting K (segment (midpoint i j) (midpoint i' j') s))
      by (apply segment_weighting; try apply midpoint_weighting; assumption).
    exists (segment (midpoint i j) (midpoint i' j') s). apply reaches_iff; try assumption.
    pose proof (midpoint_inside i j i') as (M1 & M2 & M3 & _). pose proof (midpoint_inside i j j') as (M4 & _).
    pose proof (midpoint_inside i' j' i) as (N1 & N2 & N3 & _). pose proof (midpoint_inside i' j' j) as (N4 & _).
    destruct (proj2 Hs) as [S1|S1].
    + apply (spread_positive K a f _ i j); try assumption; unfold segment; nra.
    + apply (spread_positive K a f _ i' j'); try assumption; unfold segment; nra.
Qed.

(* As printed, without the variance, the range means nothing: one system alone has b = 0 for every target (ex-single).
   *)
Theorem printed_range_is_false : forall K a f t i, (i < K)%nat ->
  weighting K (at_ i) /\ b K a f t (at_ i) = 0.
Proof.
  intros K a f t i Hi. split; [split|].
  - intros. unfold at_. destruct (Nat.eq_dec k i); lra.
  - rewrite (sum_ext K _ (fun k => at_ i k * 1)) by (intros; ring). now rewrite sum_at.
  - unfold b, var, mean. rewrite !sum_at by assumption. ring.
Qed.
