(* Systems that coincide: thm-a-duplicates (rem-coincide). *)
From Formal Require Export Pairs.

(* Move half the difference from i to j: the two get their mean. *)
Definition evened (w : nat -> R) i j k :=
  w k + (w j - w i) / 2 * (at_ i k - at_ j k).

Lemma evened_sum K w i j x : (i < K)%nat -> (j < K)%nat -> x i = x j ->
  (Σ k < K, evened w i j k * x k) = (Σ k < K, w k * x k).
Proof.
  intros Hi Hj E. unfold evened.
  rewrite (sum_ext K _ (fun k => w k * x k + (w j - w i) / 2 * (at_ i k * x k + -1 * (at_ j k * x k)))) by (intros;
    ring).
  rewrite sum_plus, sum_scale, sum_plus, sum_scale, !sum_at, E by assumption. ring.
Qed.

Lemma evened_at w i j k : i <> j -> evened w i j k = if Nat.eq_dec k i then (w i + w j) / 2
  else if Nat.eq_dec k j then (w i + w j) / 2 else w k.
Proof.
  intros N. unfold evened, at_. destruct (Nat.eq_dec k i), (Nat.eq_dec k j); subst; try lia; field.
Qed.

(* thm-a-duplicates: at an optimum, coinciding systems have equal weights. *)
Theorem copies_share_evenly : forall K a f t w i j,
  optimal K a f t w -> (i < K)%nat -> (j < K)%nat ->
  a i = a j -> f i = f j -> w i = w j.
Proof.
  intros K a f t w i j [(W & S & B) O] Hi Hj A F. destruct (Nat.eq_dec i j) as [->|N]; [reflexivity|].
  assert (V : forall x, x i = x j -> var K (evened w i j) x = var K w x).
  { intros x E. unfold var, mean. rewrite !evened_sum; auto. now rewrite E. }
  assert (R : reaches K a f t (evened w i j)).
  { repeat split.
    - intros k Hk. rewrite evened_at by assumption. pose proof (proj1 W i Hi). pose proof (proj1 W j Hj).
      destruct (Nat.eq_dec k i), (Nat.eq_dec k j); try lra. now apply W.
    - rewrite <- (proj2 W). rewrite (sum_ext K _ (fun k => evened w i j k * 1)) by (intros; ring).
      rewrite evened_sum by auto. apply sum_ext. intros. ring.
    - unfold spread. now rewrite !V.
    - unfold balance, spread. now rewrite !V. }
  specialize (O _ R). unfold collision in O.
  assert (E : (Σ k < K, evened w i j k ^ 2) = (Σ k < K, w k ^ 2) - (w i - w j) ^ 2 / 2).
  { rewrite (sum_ext K _ (fun k => w k ^ 2 + ((w j - w i) * (at_ i k * w k + -1 * (at_ j k * w k))
        + (w j - w i) ^ 2 / 4 * (at_ i k * 1 + at_ j k * 1)))).
    - rewrite sum_plus, sum_plus, !sum_scale, !sum_plus, sum_scale, !sum_at by assumption. field.
    - intros k _. unfold evened, at_. destruct (Nat.eq_dec k i), (Nat.eq_dec k j); try lia; field. }
  pose proof (pow2_ge_0 (w i - w j)) as Q. assert ((w i - w j) ^ 2 = 0) as Z by lra. apply square_zero in Z. lra.
Qed.

(* m copies that carry the weight W together cost W²/m at least, *)
Theorem copies_cost : forall m w, (0 < m)%nat ->
  (Σ k < m, w k ^ 2)
  = sum m w ^ 2 / INR m + (Σ k < m, (w k - sum m w / INR m) ^ 2).
Proof.
  intros m w Hm. assert (0 < INR m) by now apply lt_0_INR.
  assert (E : forall c, (Σ k < m, (w k - c) ^ 2) = (Σ k < m, w k ^ 2) - 2 * c * sum m w + INR m * c ^ 2).
  { intros c. rewrite <- sum_const. termwise m. }
  rewrite E. field. lra.
Qed.

(* Merging. System k lies on the point of number place k, below L. A point has so many copies and carries so much
   weight. *)
Section Merging.
Variables (K L : nat) (place : nat -> nat).
Hypothesis (Place : forall k, (k < K)%nat -> (place k < L)%nat).

Definition copies p := Σ k < K, at_ p (place k).
Definition carried (w : nat -> R) p := Σ k < K, at_ p (place k) * w k.

Lemma by_place (w g : nat -> R) : (Σ k < K, w k * g (place k)) = (Σ p < L, carried w p * g p).
Proof using Place.
  rewrite (sum_ext L _ (fun p => sum K (fun k => at_ (place k) p * (w k * g p)))).
  - rewrite <- sum_swap. apply sum_ext. intros k Hk. rewrite (sum_at L (place k) (fun p => w k * g p)) by auto.
    reflexivity.
  - intros p _. unfold carried. rewrite Rmult_comm, <- sum_scale. apply sum_ext. intros k _.
    unfold at_. destruct (Nat.eq_dec (place k) p), (Nat.eq_dec p (place k)); try lia; ring.
Qed.

Lemma copies_positive k : (k < K)%nat -> 0 < copies (place k).
Proof using Place.
  intros Hk. apply Rlt_le_trans with (at_ (place k) (place k)).
  - unfold at_. destruct (Nat.eq_dec (place k) (place k)); [lra|lia].
  - apply (sum_term K (fun i => at_ (place k) (place i))); [|assumption].
    intros. unfold at_. destruct (Nat.eq_dec (place k0) (place k)); lra.
Qed.

(* The cost of w is that of the merged pool at W²/m a point, plus what uneven sharing costs. *)
Theorem merged_cost : forall w,
  collision K w
  = (Σ p < L, carried w p ^ 2 / copies p)
    + (Σ k < K, (w k - carried w (place k) / copies (place k)) ^ 2).
Proof using Place.
  intros w. set (s := fun p => carried w p / copies p).
  assert (E : (Σ k < K, (w k - s (place k)) ^ 2)
    = collision K w - 2 * (Σ k < K, w k * s (place k)) + (Σ k < K, 1 * s (place k) ^ 2)).
  { unfold collision. generalize s. intros c. termwise K. }
  change (Σ k < K, (w k - carried w (place k) / copies (place k)) ^ 2) with (Σ k < K, (w k - s (place k)) ^ 2).
  rewrite E, (by_place w s), (by_place (fun _ => 1) (fun p => s p ^ 2)).
  assert (C : forall p, carried (fun _ => 1) p = copies p) by (intros; apply sum_ext; intros; ring).
  rewrite (sum_ext L (fun p => carried (fun _ => 1) p * s p ^ 2) (fun p => carried w p * s p)).
  - rewrite (sum_ext L (fun p => carried w p ^ 2 / copies p) (fun p => carried w p * s p)); [ring|]. intros.
    unfold s, Rdiv. ring.
  - intros p _. rewrite C. unfold s. destruct (Req_dec (copies p) 0) as [Z|Z]; [|field; assumption].
    assert (carried w p = 0) as ->; [|unfold Rdiv; ring].
    apply sum_zero. intros k Hk. assert (at_ p (place k) = 0) as ->; [|ring].
    apply (sum_all_zero K (fun k => at_ p (place k))); auto. intros. unfold at_.
    destruct (Nat.eq_dec (place k0) p); lra.
Qed.

(* How the copies share does not change the balance: it is that of the merged pool. *)
Theorem merged_balance : forall a f w,
  balance K (fun k => a (place k)) (fun k => f (place k)) w
  = balance L a f (carried w).
Proof using Place.
  intros a f w. unfold balance, spread, var, mean.
  now rewrite !(by_place w (fun p => a p ^ 2)), !(by_place w (fun p => f p ^ 2)), !by_place.
Qed.
End Merging.
