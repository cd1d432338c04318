(* What does not change the balance: prop-invariance; and the constraint as a covariance, which a boost of the plane
   leaves as it is. *)
From Formal Require Export Pairs.

Lemma var_shift K w x c : sum K w = 1 -> var K w (fun k => x k + c) = var K w x.
Proof.
  intros W. assert (M : mean K w (fun k => x k + c) = mean K w x + c * sum K w) by (unfold mean; termwise K).
  assert (Q : (Σ k < K, w k * (x k + c) ^ 2) = (Σ k < K, w k * x k ^ 2) + 2 * c * mean K w x + c ^ 2 * sum K w)
    by (unfold mean; termwise K).
  unfold var. rewrite M, Q, W. ring.
Qed.

Lemma var_scale K w x s : var K w (fun k => s * x k) = s ^ 2 * var K w x.
Proof.
  assert (M : mean K w (fun k => s * x k) = s * mean K w x) by (unfold mean; termwise K).
  assert (Q : (Σ k < K, w k * (s * x k) ^ 2) = s ^ 2 * (Σ k < K, w k * x k ^ 2)) by termwise K.
  unfold var. rewrite M, Q. ring.
Qed.

(* prop-invariance: shifts change nothing, *)
Theorem shifts_change_nothing : forall K a f w c c', sum K w = 1 ->
  balance K (fun k => a k + c) (fun k => f k + c') w = balance K a f w.
Proof. intros K a f w c c' W. unfold balance, spread. now rewrite !var_shift. Qed.

(* nor does a common scale, *)
Theorem common_scale_changes_nothing : forall K a f w s,
  s <> 0 -> 0 < spread K a f w ->
  balance K (fun k => s * a k) (fun k => s * f k) w = balance K a f w.
Proof.
  intros K a f w s S P. unfold balance, spread in *. rewrite !var_scale. pose proof (square_positive s S) as Q.
  assert (0 < s ^ 2 * (var K w a + var K w f)) by now apply Rmult_lt_0_compat.
  field. repeat split; (assumption || lra).
Qed.

(* and scaling adequacy alone multiplies the odds by its square. *)
Theorem odds_are_scaled : forall K a f w s,
  0 < s -> 0 < var K w a -> 0 < var K w f ->
  let beta := balance K a f w in
  let beta' := balance K (fun k => s * a k) f w in
  beta' / (1 - beta') = s ^ 2 * (beta / (1 - beta)).
Proof.
  intros K a f w s S A F. cbv zeta. unfold balance, spread. rewrite var_scale. assert (0 < s ^ 2) by nra.
  assert (0 < s ^ 2 * var K w a) by now apply Rmult_lt_0_compat. field. repeat split; lra.
Qed.

Definition cov K (w x y : nat -> R) :=
  (Σ k < K, w k * (x k * y k)) - mean K w x * mean K w y.

(* The constraint is a covariance. *)
Theorem constraint_is_covariance : forall K a f t w, 0 <= t <= 1 ->
  let x := fun k => sqrt (1 - t) * a k in let y := fun k => sqrt t * f k in
  b K a f t w = cov K w (fun k => x k + y k) (fun k => x k - y k).
Proof.
  intros K a f t w T. cbv beta zeta.
  assert (Sx : sqrt (1 - t) ^ 2 = 1 - t) by (rewrite <- Rsqr_pow2; apply Rsqr_sqrt; lra).
  assert (Sy : sqrt t ^ 2 = t) by (rewrite <- Rsqr_pow2; apply Rsqr_sqrt; lra).
  assert (E : forall p q, cov K w (fun k => p * a k + q * f k) (fun k => p * a k - q * f k)
    = p ^ 2 * var K w a - q ^ 2 * var K w f).
  { intros p q. unfold cov, var, mean.
    assert (M : (Σ k < K, w k * (p * a k + q * f k)) = p * (Σ k < K, w k * a k) + q * (Σ k < K, w k * f k))
      by termwise K.
    assert (N : (Σ k < K, w k * (p * a k - q * f k)) = p * (Σ k < K, w k * a k) - q * (Σ k < K, w k * f k))
      by termwise K.
    assert (Q : (Σ k < K, w k * ((p * a k + q * f k) * (p * a k - q * f k)))
      = p ^ 2 * (Σ k < K, w k * a k ^ 2) - q ^ 2 * (Σ k < K, w k * f k ^ 2)) by termwise K.
    rewrite M, N, Q. ring. }
  rewrite E, Sx, Sy. reflexivity.
Qed.

(* Stretching one factor and shrinking the other changes nothing. *)
Theorem boost_changes_nothing : forall K w p q s, s <> 0 ->
  cov K w (fun k => s * p k) (fun k => q k / s) = cov K w p q.
Proof.
  intros K w p q s S. unfold cov, mean.
  rewrite (sum_ext K (fun k => w k * (s * p k * (q k / s))) (fun k => w k * (p k * q k))) by (intros; field;
    assumption).
  rewrite (sum_ext K (fun k => w k * (s * p k)) (fun k => s * (w k * p k))) by (intros; ring).
  rewrite (sum_ext K (fun k => w k * (q k / s)) (fun k => / s * (w k * q k))) by (intros; field; assumption).
  rewrite !sum_scale. field. assumption.
Qed.
