(* Finite sums over k = 0, ..., K − 1, for every K. Nothing here is about translation; the other files stand on it. *)
Require Export Reals Lra Lia Psatz.
Open Scope R_scope.

Fixpoint sum (K : nat) (x : nat -> R) : R :=
  match K with O => 0 | S n => sum n x + x n end.

Notation "'Σ' k < K , e" := (sum K (fun k => e)) (at level 50, k name, K at level 69, e at level 49).

Definition dot (K : nat) (x y : nat -> R) : R := Σ k < K, x k * y k.

(* A sum is linear: whatever holds term by term holds for the sum. *)
Ltac termwise K :=
  let n := fresh "n" in let IH := fresh "IH" in
  clear; cbv beta; induction K as [|n IH]; cbn [sum]; [ring | rewrite IH; ring].

Lemma sum_ext K x y : (forall k, (k < K)%nat -> x k = y k) -> sum K x = sum K y.
Proof.
  induction K as [|n IH]; intros H; [reflexivity|].
  cbn [sum]. rewrite IH, H; auto with arith.
Qed.

Lemma sum_plus K x y : (Σ k < K, (x k + y k)) = sum K x + sum K y.
Proof. termwise K. Qed.

Lemma sum_scale K c x : (Σ k < K, c * x k) = c * sum K x.
Proof. termwise K. Qed.

Lemma sum_const K c : (Σ k < K, c) = INR K * c.
Proof. induction K as [|n IH]; cbn [sum]; [simpl; ring | rewrite IH, S_INR; ring]. Qed.

Lemma sum_le K x y : (forall k, (k < K)%nat -> x k <= y k) -> sum K x <= sum K y.
Proof.
  induction K as [|n IH]; intros H; cbn [sum]; [lra|].
  assert (sum n x <= sum n y) by (apply IH; intros; apply H; lia).
  specialize (H n (Nat.lt_succ_diag_r n)). lra.
Qed.

Lemma sum_zero K x : (forall k, (k < K)%nat -> x k = 0) -> sum K x = 0.
Proof. intros H. rewrite (sum_ext K x (fun _ => 0) H), sum_const. ring. Qed.

Lemma sum_nonneg K x : (forall k, (k < K)%nat -> 0 <= x k) -> 0 <= sum K x.
Proof. intros H. rewrite <- (sum_zero K (fun _ => 0)) by auto. now apply sum_le. Qed.

(* No term of a sum of non-negative terms is larger than the sum. *)
Lemma sum_term K x : (forall k, (k < K)%nat -> 0 <= x k) -> forall j, (j < K)%nat -> x j <= sum K x.
Proof.
  induction K as [|n IH]; intros H j Hj; [lia|]. cbn [sum].
  assert (Hn : forall k, (k < n)%nat -> 0 <= x k) by (intros; apply H; lia).
  assert (0 <= sum n x) by now apply sum_nonneg.
  assert (0 <= x n) by (apply H; lia).
  destruct (Nat.eq_dec j n) as [->|]; [lra|].
  assert (x j <= sum n x) by (apply IH; auto; lia). lra.
Qed.

Lemma sum_all_zero K x : (forall k, (k < K)%nat -> 0 <= x k) -> sum K x = 0 -> forall j, (j < K)%nat -> x j = 0.
Proof. intros H Z j Hj. pose proof (sum_term K x H j Hj). pose proof (H j Hj). lra. Qed.

Lemma sum_swap K L (x : nat -> nat -> R) : (Σ i < K, sum L (x i)) = (Σ j < L, sum K (fun i => x i j)).
Proof.
  induction K as [|n IH]; cbn [sum].
  - symmetry. now apply sum_zero.
  - rewrite IH, <- sum_plus. reflexivity.
Qed.

(* One at place i, zero elsewhere. *)
Definition at_ (i k : nat) : R := if Nat.eq_dec k i then 1 else 0.

Lemma sum_at K i x : (i < K)%nat -> (Σ k < K, at_ i k * x k) = x i.
Proof.
  induction K as [|n IH]; intros H; [lia|]. cbn [sum].
  destruct (Nat.eq_dec n i) as [->|].
  - rewrite sum_zero; [unfold at_; destruct (Nat.eq_dec i i); [ring|lia]|].
    intros k Hk. unfold at_. destruct (Nat.eq_dec k i); [lia|ring].
  - rewrite IH by lia. unfold at_ at 1. destruct (Nat.eq_dec n i); [lia|ring].
Qed.

Lemma square_zero x : x ^ 2 = 0 -> x = 0.
Proof. intros H. nra. Qed.

Lemma square_positive x : x <> 0 -> 0 < x ^ 2.
Proof. intros H. rewrite <- Rsqr_pow2. now apply Rsqr_pos_lt. Qed.

Lemma squares_zero x y : x ^ 2 + y ^ 2 = 0 -> x = 0 /\ y = 0.
Proof. intros H. pose proof (pow2_ge_0 x). pose proof (pow2_ge_0 y). split; apply square_zero; lra. Qed.

(* The squared length, and Cauchy and Schwarz. *)
Lemma dot_self K x : 0 <= dot K x x.
Proof. apply sum_nonneg. intros. nra. Qed.

Lemma dot_self_zero K x : dot K x x = 0 -> forall k, (k < K)%nat -> x k = 0.
Proof.
  intros H k Hk. assert (x k * x k = 0) by (apply (sum_all_zero K (fun k => x k * x k)); auto; intros; nra). nra.
Qed.

Lemma dot_expand K x y c d :
  (Σ k < K, (c * x k + d * y k) * (c * x k + d * y k)) = c ^ 2 * dot K x x + 2 * c * d * dot K x y + d ^ 2 * dot K y y.
Proof. unfold dot. termwise K. Qed.

Theorem cauchy_schwarz K x y : (dot K x y) ^ 2 <= dot K x x * dot K y y.
Proof.
  pose proof (dot_self K x) as X. pose proof (dot_self K y) as Y.
  destruct (Req_dec (dot K y y) 0) as [Z|Z].
  - assert (dot K x y = 0) as ->; [|rewrite Z; nra].
    apply sum_zero. intros k Hk. rewrite (dot_self_zero K y Z k Hk). ring.
  - assert (Q : 0 <= (Σ k < K, (dot K y y * x k + - dot K x y * y k) * (dot K y y * x k + - dot K x y * y k)))
      by (apply sum_nonneg; intros; exact (Rle_0_sqr _)).
    rewrite dot_expand in Q. apply Rmult_le_reg_l with (dot K y y); nra.
Qed.
