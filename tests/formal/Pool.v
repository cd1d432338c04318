(* The words of the book. A pool has K systems with adequacy a k and fluency f k; weights are w k; the target is t.
   def-moments, def-balance, def-ess, def-problem, with the condition that we add: some variance. *)
From Formal Require Export Sums.

Definition weighting K (w : nat -> R) :=
  (forall k, (k < K)%nat -> 0 <= w k) /\ sum K w = 1.
Definition mean K (w x : nat -> R) := Σ k < K, w k * x k.
Definition var K (w x : nat -> R) :=
  (Σ k < K, w k * x k ^ 2) - mean K w x ^ 2.
Definition spread K (a f w : nat -> R) := var K w a + var K w f.
Definition balance K (a f w : nat -> R) := var K w a / spread K a f w.
Definition collision K (w : nat -> R) := Σ k < K, w k ^ 2.
Definition ess K (w : nat -> R) := 1 / collision K w.
Definition uniform K (k : nat) := 1 / INR K.

(* The constraint. *)
Definition b K (a f : nat -> R) t w := (1 - t) * var K w a - t * var K w f.

(* A pair, where its two systems differ. *)
Definition distance (a f : nat -> R) i j := (a i - a j) ^ 2 + (f i - f j) ^ 2.
Definition pair_balance (a f : nat -> R) i j :=
  (a i - a j) ^ 2 / distance a f i j.
Definition pairs K (x : nat -> nat -> R) := Σ j < K, sum j (fun i => x i j).

(* The problem. *)
Definition reaches K a f t w :=
  weighting K w /\ 0 < spread K a f w /\ balance K a f w = t.
Definition optimal K a f t w :=
  reaches K a f t w
  /\ forall v, reaches K a f t v -> collision K w <= collision K v.

(* All of these look at the first K weights only. *)
Lemma mean_ext K v w x : (forall k, (k < K)%nat -> v k = w k) -> mean K v x = mean K w x.
Proof. intros H. apply sum_ext. intros k Hk. now rewrite H. Qed.

Lemma var_ext K v w x : (forall k, (k < K)%nat -> v k = w k) -> var K v x = var K w x.
Proof. intros H. unfold var. f_equal; [|f_equal; now apply mean_ext]. apply sum_ext. intros k Hk. now rewrite H. Qed.

Lemma b_ext K a f t v w : (forall k, (k < K)%nat -> v k = w k) -> b K a f t v = b K a f t w.
Proof. intros H. unfold b. now rewrite !(var_ext K v w) by assumption. Qed.

Lemma collision_ext K v w : (forall k, (k < K)%nat -> v k = w k) -> collision K v = collision K w.
Proof. intros H. apply sum_ext. intros k Hk. now rewrite H. Qed.
