(* Variance is a sum over pairs, and the balance an average over pairs (chapter 3.4). *)
From Formal Require Export Pool.

(* prop-gaps, before anything is known of the sum of the weights *)
Lemma pair_gaps_any K w x :
  pairs K (fun i j => w i * w j * (x i - x j) ^ 2) = sum K w * (Σ k < K, w k * x k ^ 2) - mean K w x ^ 2.
Proof.
  unfold mean. induction K as [|n IH]; unfold pairs in *; cbn [sum]; [ring|]. rewrite IH.
  enough (E : forall y v, (Σ i < n, w i * v * (x i - y) ^ 2)
                     = v * ((Σ i < n, w i * x i ^ 2) - 2 * y * (Σ i < n, w i * x i) + y ^ 2 * sum n w))
    by (rewrite E; ring).
  intros y v. termwise n.
Qed.

(* prop-gaps: a variance is the sum over pairs of w_i w_j (x_i − x_j)². *)
Theorem pair_gaps : forall K w x, sum K w = 1 ->
  var K w x = pairs K (fun i j => w i * w j * (x i - x j) ^ 2).
Proof. intros K w x H. rewrite pair_gaps_any, H. unfold var. ring. Qed.

Lemma pairs_ext K x y : (forall i j, (i < j < K)%nat -> x i j = y i j) -> pairs K x = pairs K y.
Proof. intros H. apply sum_ext. intros j Hj. apply sum_ext. intros. apply H. lia. Qed.

Lemma pairs_plus K x y : pairs K (fun i j => x i j + y i j) = pairs K x + pairs K y.
Proof. unfold pairs. rewrite <- sum_plus. apply sum_ext. intros. apply sum_plus. Qed.

Lemma pairs_scale K c x : pairs K (fun i j => c * x i j) = c * pairs K x.
Proof. unfold pairs. rewrite <- sum_scale. apply sum_ext. intros. apply sum_scale. Qed.

Lemma pairs_nonneg K x : (forall i j, (i < j < K)%nat -> 0 <= x i j) -> 0 <= pairs K x.
Proof. intros H. apply sum_nonneg. intros j Hj. apply sum_nonneg. intros. apply H. lia. Qed.

Lemma pairs_term K x : (forall i j, (i < j < K)%nat -> 0 <= x i j) ->
  forall i j, (i < j < K)%nat -> x i j <= pairs K x.
Proof.
  intros H i j Hij. apply Rle_trans with (sum j (fun i => x i j)).
  - apply (sum_term j (fun i => x i j)); [|lia]. intros. apply H. lia.
  - apply (sum_term K (fun j => sum j (fun i => x i j))); [|lia].
    intros k Hk. apply sum_nonneg. intros. apply H. lia.
Qed.

Lemma distance_nonneg a f i j : 0 <= distance a f i j.
Proof. apply Rplus_le_le_0_compat; apply pow2_ge_0. Qed.

Lemma spread_pairs K a f w : sum K w = 1 ->
  spread K a f w = pairs K (fun i j => w i * w j * distance a f i j).
Proof.
  intros H. unfold spread. rewrite !pair_gaps, <- pairs_plus by assumption.
  apply pairs_ext. intros. unfold distance. ring.
Qed.

Lemma weighting_pair K w : weighting K w -> forall i j, (i < j < K)%nat -> 0 <= w i * w j.
Proof. intros [H _] i j Hij. apply Rmult_le_pos; apply H; lia. Qed.

(* eq-34-average: times the spread, the balance is the sum of pair balances with the weights w_i w_j distance_ij. *)
Theorem balance_is_average : forall K a f w,
  weighting K w -> 0 < spread K a f w ->
  balance K a f w * pairs K (fun i j => w i * w j * distance a f i j)
  = pairs K (fun i j => w i * w j * distance a f i j * pair_balance a f i j).
Proof.
  intros K a f w H P. rewrite <- spread_pairs by apply H. unfold balance.
  replace (var K w a / spread K a f w * spread K a f w) with (var K w a) by (field; lra).
  rewrite pair_gaps by apply H. apply pairs_ext. intros i j _. unfold pair_balance.
  destruct (Req_dec (distance a f i j) 0) as [Z|Z].
  - rewrite Z. apply squares_zero in Z as [-> _]. ring.
  - field. assumption.
Qed.

(* lem-a-quadratic (2): the constraint over pairs. *)
Theorem constraint_over_pairs : forall K a f t w, sum K w = 1 ->
  b K a f t w
  = pairs K (fun i j =>
      w i * w j * ((1 - t) * (a i - a j) ^ 2 - t * (f i - f j) ^ 2)).
Proof.
  intros K a f t w H. unfold b. rewrite !pair_gaps by assumption.
  replace (_ - t * _) with ((1 - t) * pairs K (fun i j => w i * w j * (a i - a j) ^ 2)
                            + - t * pairs K (fun i j => w i * w j * (f i - f j) ^ 2)) by ring.
  rewrite <- !pairs_scale, <- pairs_plus. apply pairs_ext. intros. ring.
Qed.

(* The constraint is the distance from the target, times the spread: b = 0 means balance t where there is variance. *)
Theorem constraint_is_distance : forall K a f t w, 0 < spread K a f w ->
  b K a f t w = (balance K a f w - t) * spread K a f w.
Proof.
  intros K a f t w H. unfold balance, b.
  replace ((var K w a / spread K a f w - t) * spread K a f w) with (var K w a - t * spread K a f w) by (field; lra).
  unfold spread. ring.
Qed.

Lemma reaches_iff K a f t w : weighting K w -> 0 < spread K a f w -> (reaches K a f t w <-> b K a f t w = 0).
Proof.
  intros H P. rewrite constraint_is_distance by assumption. unfold reaches. split.
  - intros (_ & _ & E). rewrite E. ring.
  - intros E. repeat split; try apply H; try assumption. nra.
Qed.

(* The balance is a share. *)
Lemma balance_range K a f t w : reaches K a f t w -> 0 <= t <= 1.
Proof.
  intros (W & S & <-). unfold balance. assert (V : forall x, 0 <= var K w x).
  { intros x. rewrite pair_gaps by apply W. apply pairs_nonneg. intros i j H.
    apply Rmult_le_pos; [now apply (weighting_pair K w)|apply pow2_ge_0]. }
  pose proof (V a). pose proof (V f). unfold spread in *. split.
  - apply Rmult_le_pos; [assumption|]. now apply Rlt_le, Rinv_0_lt_compat.
  - apply Rmult_le_reg_r with (var K w a + var K w f); [assumption|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra.
    lra.
Qed.
