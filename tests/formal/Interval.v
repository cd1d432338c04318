(* Beyond the paper: every saddle excludes an interval (thm-cr-interval), the dual bound (thm-cr-dual, part 1), and
   convex sections (thm-cr-line, part 1). The aspect that must shrink is v, the other one, stretched, is u: the target
   is reached or overshot where var v ≤ var u. *)
From Formal Require Export Pool.

Definition saddle (u v : nat -> R) h p q k :=
  h + (u k - p) ^ 2 - (v k - q) ^ 2.
Definition positive (z : nat -> R) k := Rmax 0 (z k).
Definition norm K z := sqrt (dot K z z).

(* The saddle averaged by its formula. *)
Lemma saddle_mean K u v h p q w : weighting K w ->
  mean K w (saddle u v h p q) = h + var K w u + (mean K w u - p) ^ 2 - var K w v - (mean K w v - q) ^ 2.
Proof.
  intros [_ S].
  assert (E : mean K w (saddle u v h p q)
    = h * sum K w + ((Σ k < K, w k * u k ^ 2) - 2 * p * mean K w u + p ^ 2 * sum K w)
      - ((Σ k < K, w k * v k ^ 2) - 2 * q * mean K w v + q ^ 2 * sum K w)) by (unfold mean, saddle; termwise K).
  rewrite E, S. unfold var. ring.
Qed.

Lemma mean_positive K w z : weighting K w -> mean K w z <= dot K w (positive z).
Proof.
  intros [W _]. apply sum_le. intros k Hk. apply Rmult_le_compat_l; [now apply W|apply Rmax_r].
Qed.

(* The saddle averaged by Cauchy and Schwarz. *)
Lemma dot_norms K x y : dot K x y <= norm K x * norm K y.
Proof.
  unfold norm. rewrite <- sqrt_mult by apply dot_self. apply Rle_trans with (sqrt (dot K x y ^ 2)).
  - rewrite <- Rsqr_pow2, sqrt_Rsqr_abs. apply Rle_abs.
  - apply sqrt_le_1_alt, cauchy_schwarz.
Qed.

Lemma norm_collision K w : norm K w = sqrt (collision K w).
Proof. unfold norm, dot, collision. f_equal. apply sum_ext. intros. ring. Qed.

(* thm-cr-interval, for any three numbers and any weighting that reaches or overshoots the target. *)
Theorem every_saddle_excludes : forall K u v h p q w,
  weighting K w -> var K w v <= var K w u ->
  (mean K w v - q) ^ 2
  >= h - norm K (positive (saddle u v h p q)) * sqrt (collision K w).
Proof.
  intros K u v h p q w W T. pose proof (saddle_mean K u v h p q w W) as M.
  pose proof (mean_positive K w (saddle u v h p q) W) as P.
  pose proof (dot_norms K w (positive (saddle u v h p q))) as N. rewrite norm_collision in N.
  pose proof (pow2_ge_0 (mean K w u - p)). nra.
Qed.

(* Its second half: an ESS of at least e keeps the mean of v away from q. *)
Theorem excluded_interval : forall K u v h p q w e,
  weighting K w -> var K w v <= var K w u ->
  0 < e -> e * collision K w <= 1 ->
  (mean K w v - q) ^ 2
  >= h - norm K (positive (saddle u v h p q)) / sqrt e.
Proof.
  intros K u v h p q w e W T He Hc. pose proof (every_saddle_excludes K u v h p q w W T) as X.
  assert (0 < sqrt e) by now apply sqrt_lt_R0.
  assert (0 <= norm K (positive (saddle u v h p q))) by apply sqrt_pos.
  assert (sqrt (collision K w) <= / sqrt e); [|unfold Rdiv; nra].
  apply Rmult_le_reg_l with (sqrt e); [assumption|]. rewrite Rinv_r by lra.
  rewrite <- sqrt_mult_alt, <- sqrt_1 by lra. now apply sqrt_le_1_alt.
Qed.

(* thm-cr-dual (1): in the section of centre q, 2τh − τ²‖z₊‖² is a lower bound on the collision probability. *)
Theorem dual_bound : forall K u v h p q w tau,
  weighting K w -> 0 < tau ->
  (Σ k < K, w k * (v k - q) ^ 2) <= var K w u ->
  let z := positive (saddle u v h p q) in
  collision K w >= 2 * tau * h - tau ^ 2 * dot K z z.
Proof.
  intros K u v h p q w tau W Ht C z.
  pose proof (mean_positive K w (saddle u v h p q) W) as P. fold z in P.
  rewrite saddle_mean in P by assumption.
  assert (V : (Σ k < K, w k * (v k - q) ^ 2) = var K w v + (mean K w v - q) ^ 2).
  { assert (E : (Σ k < K, w k * (v k - q) ^ 2) = (Σ k < K, w k * v k ^ 2) - 2 * q * mean K w v + q ^ 2 * sum K w)
      by (unfold mean; termwise K). rewrite E, (proj2 W). unfold var. ring. }
  assert (Q : 0 <= (Σ k < K, (w k - tau * z k) ^ 2)) by (apply sum_nonneg; intros; apply pow2_ge_0).
  assert (E : (Σ k < K, (w k - tau * z k) ^ 2) = collision K w - 2 * tau * dot K w z + tau ^ 2 * dot K z z).
  { unfold collision, dot. generalize z. intros y. termwise K. }
  pose proof (pow2_ge_0 (mean K w u - p)). assert (h <= dot K w z) by lra. nra.
Qed.

(* thm-cr-line (1): the section is convex. *)
Theorem section_convex : forall K u v q w w' s,
  0 <= s <= 1 ->
  (Σ k < K, w k * (v k - q) ^ 2) <= var K w u ->
  (Σ k < K, w' k * (v k - q) ^ 2) <= var K w' u ->
  (Σ k < K, ((1 - s) * w k + s * w' k) * (v k - q) ^ 2)
  <= var K (fun k => (1 - s) * w k + s * w' k) u.
Proof.
  intros K u v q w w' s Hs H H'. set (m := fun k => (1 - s) * w k + s * w' k).
  assert (L : forall x, (Σ k < K, ((1 - s) * w k + s * w' k) * x k)
    = (1 - s) * (Σ k < K, w k * x k) + s * (Σ k < K, w' k * x k)).
  { intros x. termwise K. }
  rewrite (L (fun k => (v k - q) ^ 2)). unfold var, mean, m. rewrite (L (fun k => u k ^ 2)), (L u).
  unfold var, mean in H, H'. set (x := Σ k < K, w k * u k) in *. set (y := Σ k < K, w' k * u k) in *.
  assert (0 <= s * (1 - s) * (x - y) ^ 2) by (apply Rmult_le_pos; [nra|apply pow2_ge_0]). nra.
Qed.
