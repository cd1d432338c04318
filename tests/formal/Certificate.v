(* The exit certificate: thm-a-certificate (thm-35-certificate), with the expansion of the Lagrangian it rests on. *)
From Formal Require Export Pairs.

(* ∂b/∂w_k and the quadratic part dᵀHd of the constraint. *)
Definition gradient K a f t w k :=
  (1 - t) * (a k ^ 2 - 2 * mean K w a * a k)
  - t * (f k ^ 2 - 2 * mean K w f * f k).
Definition form K a f t d :=
  t * dot K f d ^ 2 - (1 - t) * dot K a d ^ 2.
Definition shifted (w d : nat -> R) k := w k + d k.

Lemma mean_shifted K w d x : mean K (shifted w d) x = mean K w x + dot K x d.
Proof. unfold mean, shifted, dot. rewrite <- sum_plus. apply sum_ext. intros. ring. Qed.

(* lem-a-quadratic (1) and (3): the constraint is quadratic, with this gradient and this quadratic part. *)
Theorem constraint_expansion : forall K a f t w d,
  b K a f t (shifted w d)
  = b K a f t w + dot K (gradient K a f t w) d + form K a f t d.
Proof.
  intros K a f t w d.
  assert (G : dot K (gradient K a f t w) d
    = (1 - t) * ((Σ k < K, d k * a k ^ 2) - 2 * mean K w a * dot K a d)
      - t * ((Σ k < K, d k * f k ^ 2) - 2 * mean K w f * dot K f d)).
  { unfold dot, gradient. generalize (mean K w a) (mean K w f). intros p q. termwise K. }
  assert (S : forall x, (Σ k < K, shifted w d k * x k ^ 2) = (Σ k < K, w k * x k ^ 2) + (Σ k < K, d k * x k ^ 2)).
  { intros. unfold shifted. rewrite <- sum_plus. apply sum_ext. intros. ring. }
  rewrite G. unfold b, var, form. rewrite !mean_shifted, !S. ring.
Qed.

(* lem-a-quadratic (3), second half: up to one constant the gradient is a saddle around the weighted means. *)
Theorem gradient_is_saddle : forall K a f t w k,
  gradient K a f t w k
  = (1 - t) * (a k - mean K w a) ^ 2 - t * (f k - mean K w f) ^ 2
    + (t * mean K w f ^ 2 - (1 - t) * mean K w a ^ 2).
Proof. intros. unfold gradient. ring. Qed.

Definition around K a f t w k :=
  (1 - t) * (a k - mean K w a) ^ 2 - t * (f k - mean K w f) ^ 2.

(* On average over w the saddle is the constraint. *)
Lemma around_mean K a f t w : sum K w = 1 -> dot K w (around K a f t w) = b K a f t w.
Proof.
  intros W.
  assert (E : forall p q, (Σ k < K, w k * ((1 - t) * (a k - p) ^ 2 - t * (f k - q) ^ 2))
    = (1 - t) * ((Σ k < K, w k * a k ^ 2) - 2 * p * mean K w a + p ^ 2 * sum K w)
      - t * ((Σ k < K, w k * f k ^ 2) - 2 * q * mean K w f + q ^ 2 * sum K w)).
  { intros p q. unfold mean. termwise K. }
  unfold dot, around. rewrite E, W. unfold b, var. ring.
Qed.

Definition lagrangian K a f t eta lam w :=
  collision K w / 2 + eta * b K a f t w + lam * (sum K w - 1).

(* What a step d adds beyond the first order is ½ dᵀ(I + 2ηH)d, for every K, w and d. *)
Theorem lagrangian_expansion : forall K a f t eta lam w d,
  lagrangian K a f t eta lam (shifted w d) - lagrangian K a f t eta lam w
  - (Σ k < K, (w k + eta * gradient K a f t w k + lam) * d k)
  = (dot K d d + 2 * eta * form K a f t d) / 2.
Proof.
  intros. unfold lagrangian. rewrite constraint_expansion.
  assert (C : collision K (shifted w d) = collision K w + 2 * dot K w d + dot K d d)
    by (unfold collision, shifted, dot; termwise K).
  assert (S : sum K (shifted w d) = sum K w + sum K d) by (unfold shifted; now rewrite <- sum_plus).
  assert (G : (Σ k < K, (w k + eta * gradient K a f t w k + lam) * d k)
    = dot K w d + eta * dot K (gradient K a f t w) d + lam * sum K d).
  { unfold dot. generalize (gradient K a f t w). intros g. termwise K. }
  rewrite C, S, G. field.
Qed.

(* (iii): I + 2ηM ⪰ 0, on all directions that sum to zero. *)
Definition convex_on_plane K a f t eta :=
  forall d, sum K d = 0 -> 0 <= dot K d d + 2 * eta * form K a f t d.

Lemma reaches_b K a f t w : reaches K a f t w -> b K a f t w = 0.
Proof. intros R. apply reaches_iff; try assumption; apply R. Qed.

(* (i) and (ii): the cost of another feasible weighting exceeds that of w by the second-order part of the step at
   least. *)
Lemma certified_step K a f t eta lam w v : reaches K a f t w ->
  (forall k, (k < K)%nat -> 0 < w k -> w k + eta * gradient K a f t w k + lam = 0) ->
  (forall k, (k < K)%nat -> w k = 0 -> lam + eta * gradient K a f t w k >= 0) ->
  reaches K a f t v -> let d := fun k => v k - w k in
  collision K w + (dot K d d + 2 * eta * form K a f t d) <= collision K v.
Proof.
  intros R I II V d. pose proof (lagrangian_expansion K a f t eta lam w d) as E.
  assert (G : 0 <= (Σ k < K, (w k + eta * gradient K a f t w k + lam) * d k)).
  { apply sum_nonneg. intros k Hk. unfold d. destruct (proj1 (proj1 R) k Hk) as [P|Z].
    - rewrite (I k Hk P). lra.
    - symmetry in Z. rewrite Z. specialize (II k Hk Z). pose proof (proj1 (proj1 V) k Hk).
      apply Rmult_le_pos; lra. }
  assert (S : forall k, (k < K)%nat -> shifted w d k = v k) by (intros; unfold shifted, d; ring).
  unfold lagrangian in E. rewrite (collision_ext K _ v S), (b_ext K a f t _ v S), (sum_ext K _ v S) in E.
  rewrite (reaches_b K a f t v V), (reaches_b K a f t w R), (proj2 (proj1 V)), (proj2 (proj1 R)) in E. lra.
Qed.

(* thm-a-certificate: (i), (ii) and (iii) make a feasible w a global optimum. *)
Theorem exit_certificate : forall K a f t eta lam w,
  reaches K a f t w ->
  (forall k, (k < K)%nat -> 0 < w k ->
    w k + eta * gradient K a f t w k + lam = 0) ->
  (forall k, (k < K)%nat -> w k = 0 ->
    lam + eta * gradient K a f t w k >= 0) ->
  convex_on_plane K a f t eta ->
  optimal K a f t w.
Proof.
  intros K a f t eta lam w R I II III. split; [assumption|]. intros v V.
  pose proof (certified_step K a f t eta lam w v R I II V) as G. cbv zeta in G.
  enough (0 <= dot K (fun k => v k - w k) (fun k => v k - w k) + 2 * eta * form K a f t (fun k => v k - w k)) by lra.
  apply III. rewrite (sum_ext K _ (fun k => v k + -1 * w k)) by (intros; ring).
  rewrite sum_plus, sum_scale, (proj2 (proj1 V)), (proj2 (proj1 R)). ring.
Qed.

(* Where (iii) is strict, no other weighting is as good. *)
Theorem strict_certificate_unique : forall K a f t eta lam w,
  reaches K a f t w ->
  (forall k, (k < K)%nat -> 0 < w k ->
    w k + eta * gradient K a f t w k + lam = 0) ->
  (forall k, (k < K)%nat -> w k = 0 ->
    lam + eta * gradient K a f t w k >= 0) ->
  (forall d, sum K d = 0 -> 0 < dot K d d ->
    0 < dot K d d + 2 * eta * form K a f t d) ->
  forall v, optimal K a f t v -> forall k, (k < K)%nat -> v k = w k.
Proof.
  intros K a f t eta lam w R I II III v [V O]. specialize (O w R). set (d := fun k => v k - w k).
  pose proof (certified_step K a f t eta lam w v R I II V) as G. fold d in G.
  assert (Sd : sum K d = 0).
  { unfold d. rewrite (sum_ext K _ (fun k => v k + -1 * w k)) by (intros; ring).
    rewrite sum_plus, sum_scale, (proj2 (proj1 V)), (proj2 (proj1 R)). ring. }
  assert (Z : dot K d d = 0).
  { destruct (dot_self K d) as [P|]; [|now symmetry]. specialize (III d Sd P). lra. }
  intros k Hk. pose proof (dot_self_zero K d Z k Hk) as X. unfold d in X. lra.
Qed.

(* Without (ii) and without w ≥ 0 the same argument gives a bound (ex-a-bound): a candidate that is stationary on the
   whole pool and convex, feasible or not, is no worse than any weighting that reaches the target. *)
Theorem middle_is_a_bound : forall K a f t eta lam w,
  sum K w = 1 -> b K a f t w = 0 ->
  (forall k, (k < K)%nat -> w k + eta * gradient K a f t w k + lam = 0) ->
  convex_on_plane K a f t eta ->
  forall v, reaches K a f t v -> collision K w <= collision K v.
Proof.
  intros K a f t eta lam w H1 HB I III v V. set (d := fun k => v k - w k).
  pose proof (lagrangian_expansion K a f t eta lam w d) as E.
  assert (Q : 0 <= dot K d d + 2 * eta * form K a f t d).
  { apply III. unfold d. rewrite (sum_ext K _ (fun k => v k + -1 * w k)) by (intros; ring).
    rewrite sum_plus, sum_scale, (proj2 (proj1 V)), H1. ring. }
  rewrite (sum_zero K (fun k => (w k + _ + _) * d k)) in E by (intros k Hk; rewrite (I k Hk); ring).
  assert (S : forall k, (k < K)%nat -> shifted w d k = v k) by (intros; unfold shifted, d; ring).
  unfold lagrangian in E.
  rewrite (collision_ext K _ v S), (b_ext K a f t _ v S), (sum_ext K _ v S), (reaches_b K a f t v V),
    (proj2 (proj1 V)), H1, HB in E.
  lra.
Qed.

(* The bound behind an exact proof by one multiplier: any weighting u, good or not, and any multiplier with (iii). A
   tangent of the convex Lagrangian lies below it, and a mean is no less than the smallest entry m. *)
Theorem tangent_bound : forall K a f t eta u m,
  sum K u = 1 -> convex_on_plane K a f t eta ->
  (forall k, (k < K)%nat -> m <= u k + eta * around K a f t u k) ->
  forall w, reaches K a f t w -> collision K w >= 2 * m - collision K u.
Proof.
  intros K a f t eta u m U III M w R. set (d := fun k => w k - u k). set (h := around K a f t u).
  set (c := t * mean K u f ^ 2 - (1 - t) * mean K u a ^ 2).
  assert (Sd : sum K d = 0).
  { unfold d. rewrite (sum_ext K _ (fun k => w k + -1 * u k)) by (intros; ring).
    rewrite sum_plus, sum_scale, (proj2 (proj1 R)), U. ring. }
  pose proof (III d Sd) as Q. pose proof (lagrangian_expansion K a f t eta 0 u d) as E.
  assert (S : forall k, (k < K)%nat -> shifted u d k = w k) by (intros; unfold shifted, d; ring).
  unfold lagrangian in E. rewrite (collision_ext K _ w S), (b_ext K a f t _ w S), (reaches_b K a f t w R) in E.
  assert (G : (Σ k < K, (u k + eta * gradient K a f t u k + 0) * d k)
    = (Σ k < K, w k * (u k + eta * h k)) - collision K u - eta * b K a f t u).
  { rewrite <- around_mean by assumption. fold h.
    rewrite (sum_ext K _ (fun k => (u k + eta * h k) * d k + eta * c * d k))
      by (intros; rewrite gradient_is_saddle; unfold h, around, c; ring).
    rewrite sum_plus, sum_scale, Sd, Rmult_0_r, Rplus_0_r. unfold d, collision, dot. generalize h. intros y.
    termwise K. }
  assert (L : m <= (Σ k < K, w k * (u k + eta * h k))).
  { rewrite <- (Rmult_1_r m), <- (proj2 (proj1 R)), <- sum_scale. apply sum_le. intros k Hk.
    rewrite (Rmult_comm m). apply Rmult_le_compat_l; [apply R; assumption|now apply M]. }
  lra.
Qed.

(* (iii) as the paper and the book state it: on the span of the centred scores only. It is the same. *)
Definition centred K x k := x k - sum K x / INR K.
Definition combination (x y : nat -> R) p q k := p * x k + q * y k.
Definition convex_on_span K a f t eta :=
  forall p q, let e := combination (centred K a) (centred K f) p q in
  0 <= dot K e e + 2 * eta * form K a f t e.

(* The foot of d on the line through x. *)
Lemma foot K x d : exists c, dot K x d = c * dot K x x.
Proof.
  destruct (Req_dec (dot K x x) 0) as [Z|Z].
  - exists 0. rewrite Rmult_0_l. apply sum_zero. intros k Hk. rewrite (dot_self_zero K x Z k Hk). ring.
  - exists (dot K x d / dot K x x). field. assumption.
Qed.

Lemma dot_combination K x y z p q : dot K z (combination x y p q) = p * dot K z x + q * dot K z y.
Proof. unfold dot, combination. termwise K. Qed.

Lemma dot_scaled K x y c : dot K x (fun k => c * y k) = c * dot K x y.
Proof. unfold dot. rewrite <- sum_scale. apply sum_ext. intros. ring. Qed.

Lemma dot_comm K x y : dot K x y = dot K y x.
Proof. apply sum_ext. intros. ring. Qed.

(* The foot of d on the plane through x and y: x and y do not see the rest of d. *)
Lemma foot_on_plane K x y d : exists p q, let e := combination x y p q in
  dot K x e = dot K x d /\ dot K y e = dot K y d /\ dot K e e <= dot K d d.
Proof.
  destruct (foot K x y) as [m M]. set (y' := combination x y (- m) 1).
  destruct (foot K x d) as [c C]. destruct (foot K y' d) as [c' C'].
  assert (O : dot K x y' = 0) by (unfold y'; rewrite dot_combination, M; ring).
  assert (Y : forall z, dot K z y' = - m * dot K z x + dot K z y) by (intros; unfold y'; rewrite dot_combination; ring).
  exists (c - m * c'), c'. intros e.
  assert (E : forall z, dot K z e = c * dot K z x + c' * dot K z y')
    by (intros; unfold e; rewrite dot_combination, Y; ring).
  assert (Xe : dot K x e = dot K x d) by (rewrite E, O, C; ring).
  assert (Y'e : dot K y' e = dot K y' d) by (rewrite E, (dot_comm K y' x), O, C'; ring).
  assert (Ye : dot K y e = dot K y d).
  { pose proof (Y e) as Y1. pose proof (Y d) as Y2.
    rewrite (dot_comm K e y'), (dot_comm K e x), (dot_comm K e y), Xe in Y1.
    rewrite (dot_comm K d y'), (dot_comm K d x), (dot_comm K d y) in Y2. lra. }
  repeat split; try assumption.
  assert (D : 0 <= dot K (combination d e 1 (-1)) (combination d e 1 (-1))) by apply dot_self.
  rewrite dot_combination, (dot_comm K _ d), (dot_comm K _ e), !dot_combination in D.
  assert (ED : dot K d e = dot K e e).
  { rewrite (E d), (E e), (dot_comm K d x), (dot_comm K d y'), (dot_comm K e x), (dot_comm K e y'), Xe, Y'e. ring. }
  rewrite (dot_comm K e d) in D. lra.
Qed.

(* Steps that sum to zero do not see a constant added to all scores. *)
Lemma dot_centred K x d : sum K d = 0 -> dot K (centred K x) d = dot K x d.
Proof.
  intros H. unfold dot, centred. generalize (sum K x / INR K). intros m.
  assert (E : (Σ k < K, (x k - m) * d k) = (Σ k < K, x k * d k) - m * sum K d) by termwise K.
  rewrite E, H. ring.
Qed.

Lemma sum_centred K x : sum K (centred K x) = 0.
Proof.
  destruct K as [|n]; [reflexivity|]. unfold centred.
  rewrite (sum_ext (S n) _ (fun k => x k + - (sum (S n) x / INR (S n)))) by (intros; ring).
  rewrite sum_plus, sum_const. field. apply not_0_INR. lia.
Qed.

Lemma sum_combination K x y p q : sum K (combination x y p q) = p * sum K x + q * sum K y.
Proof. unfold combination. rewrite sum_plus, !sum_scale. reflexivity. Qed.

Theorem convex_on_span_suffices : forall K a f t eta,
  convex_on_span K a f t eta <-> convex_on_plane K a f t eta.
Proof.
  intros K a f t eta. split; intros H.
  - intros d D. destruct (foot_on_plane K (centred K a) (centred K f) d) as (p & q & A & F & L).
    specialize (H p q). cbv zeta in *. set (e := combination (centred K a) (centred K f) p q) in *.
    assert (Z : sum K e = 0) by (unfold e; rewrite sum_combination, !sum_centred; ring).
    rewrite !dot_centred in A, F by assumption. unfold form in *. rewrite A, F in H. lra.
  - intros p q e. apply H. unfold e. rewrite sum_combination, !sum_centred. ring.
Qed.
