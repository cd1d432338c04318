(* How few systems can a good weighting use? prop-ess, thm-a-size, thm-35-size. *)
From Formal Require Export Pool.

Definition inside (w : nat -> R) k : R := if Rlt_dec 0 (w k) then 1 else 0.
Definition size K w : R := Σ k < K, inside w k.

Lemma inside_idem w k : inside w k * inside w k = inside w k.
Proof. unfold inside. destruct (Rlt_dec 0 (w k)); ring. Qed.

Lemma inside_weight K w k : weighting K w -> (k < K)%nat -> w k * inside w k = w k.
Proof. intros [H _] Hk. specialize (H k Hk). unfold inside. destruct (Rlt_dec 0 (w k)); lra. Qed.

(* Some system has weight. *)
Lemma size_positive K w : weighting K w -> 0 < size K w.
Proof.
  intros [H S]. assert (N : 0 <= size K w).
  { apply sum_nonneg. intros. unfold inside. destruct (Rlt_dec 0 (w k)); lra. }
  destruct N as [N|N]; [assumption|exfalso].
  assert (sum K w = 0); [|lra]. apply sum_zero. intros k Hk.
  assert (Z : inside w k = 0).
  { apply (sum_all_zero K (inside w)); auto. intros. unfold inside. destruct (Rlt_dec 0 (w k0)); lra. }
  unfold inside in Z. specialize (H k Hk). destruct (Rlt_dec 0 (w k)); lra.
Qed.

(* The gap is a sum of squares: the squared distance from uniform on the support (eq-34-distance). *)
Theorem size_gap : forall K w, weighting K w ->
  (Σ k < K, (w k - inside w k / size K w) ^ 2)
  = collision K w - 1 / size K w.
Proof.
  intros K w H. pose proof (size_positive K w H) as N.
  rewrite (sum_ext K _ (fun k => w k ^ 2 + (- 2 / size K w * w k + 1 / size K w ^ 2 * inside w k))).
  - rewrite !sum_plus, !sum_scale, (proj2 H). change (sum K (inside w)) with (size K w).
    unfold collision. field. lra.
  - intros k Hk. set (n := size K w) in *.
    replace ((w k - inside w k / n) ^ 2)
      with (w k ^ 2 + (- 2 / n * (w k * inside w k) + 1 / n ^ 2 * (inside w k * inside w k))) by (field; lra).
    rewrite (inside_weight K w k H Hk), inside_idem. reflexivity.
Qed.

(* thm-a-size: P(w) ≥ 1/|S|, *)
Theorem size_bound : forall K w, weighting K w ->
  collision K w >= 1 / size K w.
Proof.
  intros K w H. pose proof (size_gap K w H) as G.
  assert (0 <= (Σ k < K, (w k - inside w k / size K w) ^ 2)) by (apply sum_nonneg; intros; apply pow2_ge_0). lra.
Qed.

(* with equality exactly when w is uniform on S. *)
Theorem size_bound_equality : forall K w, weighting K w ->
  (collision K w = 1 / size K w
   <-> forall k, (k < K)%nat -> 0 < w k -> w k = 1 / size K w).
Proof.
  intros K w H. pose proof (size_gap K w H) as G. split.
  - intros E k Hk P. rewrite E, Rminus_diag_eq in G by reflexivity.
    assert (Z : (w k - inside w k / size K w) ^ 2 = 0).
    { apply (sum_all_zero K (fun k => (w k - inside w k / size K w) ^ 2)); auto. intros; apply pow2_ge_0. }
    unfold inside in Z. destruct (Rlt_dec 0 (w k)); [nra|contradiction].
  - intros U. assert ((Σ k < K, (w k - inside w k / size K w) ^ 2) = 0); [|lra].
    apply sum_zero. intros k Hk. unfold inside at 1. pose proof (proj1 H k Hk).
    destruct (Rlt_dec 0 (w k)) as [P|P]; [rewrite (U k Hk P); ring|]. assert (w k = 0) as -> by lra. unfold Rdiv. ring.
Qed.

(* prop-ess: 1 ≤ ESS ≤ |S|. *)
Theorem ess_bounds : forall K w, weighting K w -> 1 <= ess K w <= size K w.
Proof.
  intros K w H. pose proof (size_positive K w H) as N. pose proof (size_bound K w H) as B.
  assert (I : 0 < 1 / size K w) by (apply Rdiv_lt_0_compat; lra).
  assert (C : collision K w <= 1).
  { destruct H as [P S]. rewrite <- S. apply sum_le. intros k Hk.
    pose proof (sum_term K w P k Hk). specialize (P k Hk). nra. }
  unfold ess. split.
  - apply Rmult_le_reg_r with (collision K w); [lra|]. field_simplify; lra.
  - apply Rmult_le_reg_r with (collision K w); [lra|].
    replace (1 / collision K w * collision K w) with 1 by (field; lra).
    apply Rmult_le_reg_l with (1 / size K w); [lra|]. field_simplify; [|lra|lra]. unfold Rdiv in *. lra.
Qed.

(* thm-35-size: with w in hand, no support of ESS(w) systems or fewer holds anything better. *)
Theorem no_better_on_few : forall K w v, weighting K w -> weighting K v ->
  size K v <= ess K w -> collision K w <= collision K v.
Proof.
  intros K w v Hw Hv L. pose proof (size_positive K v Hv). pose proof (size_bound K v Hv).
  pose proof (size_positive K w Hw). pose proof (size_bound K w Hw).
  assert (0 < 1 / size K w) by (apply Rdiv_lt_0_compat; lra).
  assert (1 / ess K w <= 1 / size K v).
  { unfold Rdiv. rewrite !Rmult_1_l. apply Rinv_le_contravar; lra. }
  enough (1 / ess K w = collision K w) by lra. unfold ess. field. lra.
Qed.
