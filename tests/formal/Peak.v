(* The price of balance rises both ways: thm-a-peak, what follows from it, and cor-a-sign. *)
From Formal Require Export Range Certificate.

Lemma pair_positive K a f t w : reaches K a f t w -> exists i j, pool_pair K a f i j.
Proof. intros (W & P & _). destruct (spread_needs_pair K a f w W P) as (i & j & S & _). now exists i, j. Qed.

Section Uniform.
Variables (K : nat) (w : nat -> R).
Hypothesis (HK : (0 < K)%nat) (W : weighting K w).

Lemma INR_K : 0 < INR K.
Proof using HK. now apply lt_0_INR. Qed.

Lemma uniform_positive k : 0 < uniform K k.
Proof using HK. pose proof INR_K. apply Rdiv_lt_0_compat; lra. Qed.

Lemma uniform_weighting : weighting K (uniform K).
Proof using HK.
  pose proof INR_K. split; [intros; apply Rlt_le, uniform_positive|]. unfold uniform. rewrite sum_const. field. lra.
Qed.

(* eq-34-distance: the squared distance from uniform. *)
Lemma distance_from_uniform : (Σ k < K, (w k - uniform K k) ^ 2) = collision K w - 1 / INR K.
Proof using HK W.
  pose proof INR_K. unfold uniform, collision.
  assert (E : forall m, (Σ k < K, (w k - m) ^ 2) = (Σ k < K, w k ^ 2) - 2 * m * sum K w + INR K * m ^ 2).
  { intros m. rewrite <- sum_const. termwise K. }
  rewrite E, (proj2 W). field. lra.
Qed.

Lemma collision_at_least : 1 / INR K <= collision K w.
Proof using HK W.
  pose proof distance_from_uniform.
  assert (0 <= (Σ k < K, (w k - uniform K k) ^ 2)) by (apply sum_nonneg; intros; apply pow2_ge_0). lra.
Qed.

Lemma uniform_only : collision K w = 1 / INR K -> forall k, (k < K)%nat -> w k = uniform K k.
Proof using HK W.
  intros E k Hk. pose proof distance_from_uniform as D. rewrite E, Rminus_diag_eq in D by reflexivity.
  assert ((w k - uniform K k) ^ 2 = 0) as Z.
  { apply (sum_all_zero K (fun k => (w k - uniform K k) ^ 2)); auto. intros. apply pow2_ge_0. }
  apply square_zero in Z. lra.
Qed.

(* On the straight way from uniform to w the cost rises with the square of the way. *)
Lemma collision_on_the_way s :
  collision K (segment (uniform K) w s) = 1 / INR K + s ^ 2 * (collision K w - 1 / INR K).
Proof using HK W.
  pose proof INR_K. rewrite <- distance_from_uniform. unfold collision, segment, uniform.
  assert (E : forall m, (Σ k < K, (m + s * (w k - m)) ^ 2)
    = INR K * m ^ 2 + 2 * m * s * (sum K w - INR K * m) + s ^ 2 * (Σ k < K, (w k - m) ^ 2)).
  { intros m. rewrite <- !sum_const. termwise K. }
  rewrite E, (proj2 W). field. lra.
Qed.

(* There is variance all the way, short of its end. *)
Lemma spread_on_the_way a f s i j : pool_pair K a f i j -> 0 <= s < 1 -> 0 < spread K a f (segment (uniform K) w s).
Proof using HK W.
  intros [L D] Hs. pose proof uniform_weighting.
  assert (P : forall k, (k < K)%nat -> 0 < segment (uniform K) w s k).
  { intros k Hk. pose proof (uniform_positive k). pose proof (proj1 W k Hk). unfold segment. nra. }
  apply (spread_positive K a f _ i j); try assumption; try (apply P; lia). apply segment_weighting; auto. lra.
Qed.
End Uniform.

Lemma reaches_some K a f t w : reaches K a f t w -> (0 < K)%nat.
Proof. intros R. destruct (pair_positive K a f t w R) as (i & j & L & _). lia. Qed.

Lemma spread_uniform K a f t w : reaches K a f t w -> 0 < spread K a f (uniform K).
Proof.
  intros R. pose proof (reaches_some K a f t w R) as HK. destruct (pair_positive K a f t w R) as (i & j & L & D).
  apply (spread_positive K a f _ i j); try assumption; try now apply uniform_positive. now apply uniform_weighting.
Qed.

(* Only uniform weights cost 1/K, and they have the natural balance. *)
Lemma away_is_dearer K a f t w : reaches K a f t w -> t <> balance K a f (uniform K) -> 1 / INR K < collision K w.
Proof.
  intros R T. pose proof (reaches_some K a f t w R) as HK.
  pose proof (collision_at_least K w HK (proj1 R)) as [L|E]; [assumption|].
  exfalso. apply T. destruct R as (W & _ & <-). symmetry in E. pose proof (uniform_only K w HK W E) as U.
  unfold balance, spread. now rewrite !(var_ext K w (uniform K)) by assumption.
Qed.

(* The heart of thm-a-peak: whoever reaches t' reaches every t between it and the natural balance at a lower price. *)
Theorem cheaper_on_the_way : forall K a f t t' w,
  let natural := balance K a f (uniform K) in
  natural <= t < t' \/ t' < t <= natural -> reaches K a f t' w ->
  exists v, reaches K a f t v /\ collision K v < collision K w.
Proof.
  intros K a f t t' w natural T R. pose proof (reaches_some K a f t' w R) as HK.
  pose proof (spread_uniform K a f t' w R) as SU.
  destruct (pair_positive K a f t' w R) as (i & j & PP).
  assert (D : 1 / INR K < collision K w) by (apply (away_is_dearer K a f t' w R); fold natural; lra).
  destruct R as (W & SW & BW).
  pose proof (constraint_is_distance K a f t (uniform K) SU) as BU. fold natural in BU.
  pose proof (constraint_is_distance K a f t w SW) as BV. rewrite BW in BV.
  set (x := spread K a f (uniform K)) in *. set (y := spread K a f w) in *.
  destruct (b_crosses K a f t (uniform K) w) as (s & Hs & Z).
  { rewrite BU, BV. replace ((natural - t) * x * ((t' - t) * y)) with ((natural - t) * (t' - t) * (x * y)) by ring.
    assert (0 < x * y) by now apply Rmult_lt_0_compat. assert ((natural - t) * (t' - t) <= 0) by (destruct T; nra).
    nra. }
  assert (s < 1) as S1.
  { destruct (proj2 Hs) as [|E]; [assumption|exfalso]. rewrite E, segment_at_one, BV in Z.
    apply Rmult_integral in Z. destruct Z; lra. }
  exists (segment (uniform K) w s). split.
  - apply reaches_iff; [|apply (spread_on_the_way K w HK W a f s i j); [assumption|lra]|assumption].
    apply segment_weighting; [now apply uniform_weighting|assumption|lra].
  - rewrite collision_on_the_way by assumption. assert (s ^ 2 < 1) by nra. nra.
Qed.

(* thm-a-peak: the best ESS falls strictly on both sides of the natural balance, *)
Theorem one_peak : forall K a f t t' w w',
  let natural := balance K a f (uniform K) in
  optimal K a f t w -> optimal K a f t' w' ->
  natural <= t < t' \/ t' < t <= natural ->
  ess K w' < ess K w.
Proof.
  intros K a f t t' w w' natural [Rw Ow] [Rw' _] T. destruct (cheaper_on_the_way K a f t t' w' T Rw') as (v & Rv & L).
  specialize (Ow v Rv). pose proof (reaches_some K a f t w Rw) as HK. pose proof (INR_K K HK).
  pose proof (collision_at_least K w HK (proj1 Rw)). assert (0 < 1 / INR K) by (apply Rdiv_lt_0_compat; lra).
  unfold ess, Rdiv. rewrite !Rmult_1_l. apply Rinv_lt_contravar; [apply Rmult_lt_0_compat|]; lra.
Qed.

(* and at the natural balance uniform weights are the optimum, with ESS = K. *)
Theorem peak_at_natural : forall K a f i j, pool_pair K a f i j ->
  optimal K a f (balance K a f (uniform K)) (uniform K)
  /\ ess K (uniform K) = INR K.
Proof.
  intros K a f i j [L D]. assert (HK : (0 < K)%nat) by lia. pose proof (INR_K K HK).
  assert (C : collision K (uniform K) = 1 / INR K) by (unfold collision, uniform; rewrite sum_const; field; lra).
  split; [split|].
  - repeat split; try now apply uniform_weighting.
    apply (spread_positive K a f _ i j); try assumption; try now apply uniform_positive. now apply uniform_weighting.
  - intros v (V & _). rewrite C. now apply collision_at_least.
  - unfold ess. rewrite C. field. lra.
Qed.

(* The optimum would not overshoot: the constraint may be written as an inequality. *)
Theorem no_overshoot : forall K a f t w v,
  let natural := balance K a f (uniform K) in
  optimal K a f t w -> weighting K v -> 0 < spread K a f v ->
  natural <= t <= balance K a f v \/ balance K a f v <= t <= natural ->
  collision K w <= collision K v.
Proof.
  intros K a f t w v natural [_ O] V S T. destruct (Req_dec (balance K a f v) t) as [E|E].
  - apply O. repeat split; try assumption; apply V.
  - destruct (cheaper_on_the_way K a f t (balance K a f v) v) as (v' & R & L).
    + fold natural. lra.
    + repeat split; try assumption; apply V.
    + specialize (O v' R). lra.
Qed.

(* thm-cr-line (2): fix the centre of the aspect that must shrink. No section holds anything better than the optimum,
   and the optimum lies in the section of its own mean. *)
Theorem best_section : forall K a f t w,
  let natural := balance K a f (uniform K) in optimal K a f t w ->
  (natural <= t -> forall v q, weighting K v -> 0 < spread K a f v ->
    t * (Σ k < K, v k * (f k - q) ^ 2) <= (1 - t) * var K v a ->
    collision K w <= collision K v)
  /\ (t <= natural -> forall v q, weighting K v -> 0 < spread K a f v ->
    (1 - t) * (Σ k < K, v k * (a k - q) ^ 2) <= t * var K v f ->
    collision K w <= collision K v)
  /\ t * (Σ k < K, w k * (f k - mean K w f) ^ 2) = (1 - t) * var K w a
  /\ (1 - t) * (Σ k < K, w k * (a k - mean K w a) ^ 2) = t * var K w f.
Proof.
  intros K a f t w natural O. pose proof (balance_range K a f t w (proj1 O)) as T.
  assert (V : forall v x q, sum K v = 1 -> (Σ k < K, v k * (x k - q) ^ 2) = var K v x + (mean K v x - q) ^ 2).
  { intros v x q S.
    assert (E : (Σ k < K, v k * (x k - q) ^ 2) = (Σ k < K, v k * x k ^ 2) - 2 * q * mean K v x + q ^ 2 * sum K v)
      by (unfold mean; termwise K). rewrite E, S. unfold var. ring. }
  assert (Sign : forall v, weighting K v -> 0 < spread K a f v ->
    (0 <= b K a f t v -> t <= balance K a f v) /\ (b K a f t v <= 0 -> balance K a f v <= t)).
  { intros v W S. rewrite (constraint_is_distance K a f t v S).
    split; intros B; apply Rmult_le_reg_r with (spread K a f v); lra. }
  pose proof (reaches_b K a f t w (proj1 O)) as B. pose proof (proj2 (proj1 (proj1 O))) as Sw.
  repeat split.
  - intros L v q W S H. rewrite (V v f q) in H by apply W.
    assert (0 <= t * (mean K v f - q) ^ 2) by (apply Rmult_le_pos; [lra|apply pow2_ge_0]).
    apply (no_overshoot K a f t w v O W S). left. split; [assumption|]. apply (Sign v W S). unfold b. lra.
  - intros L v q W S H. rewrite (V v a q) in H by apply W.
    assert (0 <= (1 - t) * (mean K v a - q) ^ 2) by (apply Rmult_le_pos; [lra|apply pow2_ge_0]).
    apply (no_overshoot K a f t w v O W S). right. split; [|assumption]. apply (Sign v W S). unfold b. lra.
  - rewrite (V w f _ Sw). unfold b in B. lra.
  - rewrite (V w a _ Sw). unfold b in B. lra.
Qed.

(* The targets that keep an ESS form an interval. *)
Theorem kept_ess_is_an_interval : forall K a f t1 t t2 w1 w w2,
  t1 <= t <= t2 ->
  optimal K a f t1 w1 -> optimal K a f t w -> optimal K a f t2 w2 ->
  Rmin (ess K w1) (ess K w2) <= ess K w.
Proof.
  intros K a f t1 t t2 w1 w w2 [L1 L2] O1 O O2.
  assert (Same : forall v, optimal K a f t v -> ess K v = ess K w).
  { intros v Ov. unfold ess. f_equal. apply Rle_antisym; [apply Ov, O|apply O, Ov]. }
  destruct L1 as [L1| ->]; [|rewrite (Same w1 O1); apply Rmin_l].
  destruct L2 as [L2| <-]; [|rewrite (Same w2 O2); apply Rmin_r].
  destruct (Rle_dec t (balance K a f (uniform K))).
  - pose proof (one_peak K a f t t1 w w1 O O1 ltac:(right; lra)). pose proof (Rmin_l (ess K w1) (ess K w2)). lra.
  - pose proof (one_peak K a f t t2 w w2 O O2 ltac:(left; lra)). pose proof (Rmin_r (ess K w1) (ess K w2)). lra.
Qed.

(* cor-a-sign: the multiplier of an optimum with (i) and (ii) pulls back towards the natural balance. *)
Theorem multiplier_sign : forall K a f t eta lam w,
  optimal K a f t w ->
  let natural := balance K a f (uniform K) in t <> natural ->
  (forall k, (k < K)%nat -> 0 < w k ->
    w k + eta * gradient K a f t w k + lam = 0) ->
  (forall k, (k < K)%nat -> w k = 0 ->
    lam + eta * gradient K a f t w k >= 0) ->
  eta * (t - natural) < 0.
Proof.
  intros K a f t eta lam w [R O] natural T I II.
  pose proof (reaches_some K a f t w R) as HK. pose proof (spread_uniform K a f t w R) as SU.
  pose proof (away_is_dearer K a f t w R T) as D. pose proof (uniform_weighting K HK) as UW.
  pose proof (INR_K K HK) as N.
  pose proof (reaches_b K a f t w R) as Bw. destruct (pair_positive K a f t w R) as (i & j & PP).
  set (d := fun k => uniform K k - w k).
  assert (d0 : sum K d = 0).
  { unfold d. rewrite (sum_ext K _ (fun k => uniform K k + -1 * w k)) by (intros; ring).
    rewrite sum_plus, sum_scale, (proj2 UW), (proj2 (proj1 R)). ring. }
  set (B := dot K (gradient K a f t w) d). set (A := form K a f t d). set (g := t - natural).
  assert (Q : forall s, b K a f t (segment (uniform K) w (1 - s)) = A * s ^ 2 + B * s).
  { intros s. rewrite (b_ext K a f t _ (shifted w (fun k => s * d k))) by (intros; unfold segment, shifted, d; ring).
    rewrite constraint_expansion, Bw. unfold A, B, form.
    assert (E : forall x, dot K x (fun k => s * d k) = s * dot K x d).
    { intros x. unfold dot. rewrite <- sum_scale. apply sum_ext. intros. ring. }
    rewrite !E. ring. }
  assert (AB : (A + B) * g < 0).
  { assert (E : A + B = b K a f t (uniform K)).
    { replace (A + B) with (A * 1 ^ 2 + B * 1) by ring. rewrite <- Q. apply b_ext. intros. unfold segment. ring. }
    rewrite E, constraint_is_distance by assumption. fold natural. unfold g.
    assert (0 < (t - natural) ^ 2) by (assert (t - natural <> 0) by lra; nra). nra. }
  assert (Bg : B * g <= 0).
  { destruct (Rle_dec (B * g) 0) as [|P]; [assumption|exfalso]. assert (Ag : 0 < - (A * g)) by nra.
    set (s := B * g / - (A * g)).
    assert (S : 0 < s < 1).
    { unfold s. split; [apply Rdiv_lt_0_compat; lra|]. apply Rmult_lt_reg_r with (- (A * g)); [assumption|].
      field_simplify; [nra|]. split; intros Z; rewrite Z in Ag; lra. }
    assert (V : reaches K a f t (segment (uniform K) w (1 - s))).
    { apply reaches_iff; [|apply (spread_on_the_way K w HK (proj1 R) a f _ i j); [assumption|lra]|].
      - apply segment_weighting; [assumption|apply R|lra].
      - rewrite Q. unfold s. field. split; intros Z; rewrite Z in Ag; lra. }
    specialize (O _ V). rewrite collision_on_the_way in O by (try assumption; apply R).
    assert ((1 - s) ^ 2 < 1) by nra. nra. }
  assert (G : 0 <= dot K w d + eta * B).
  { assert (E : (Σ k < K, (w k + eta * gradient K a f t w k + lam) * d k) = dot K w d + eta * B + lam * sum K d).
    { unfold B, dot. generalize (gradient K a f t w) d. intros y z. termwise K. }
    rewrite d0 in E. assert (0 <= (Σ k < K, (w k + eta * gradient K a f t w k + lam) * d k)); [|lra].
    apply sum_nonneg. intros k Hk. destruct (proj1 (proj1 R) k Hk) as [P|Z].
    - rewrite (I k Hk P). lra.
    - symmetry in Z. specialize (II k Hk Z). unfold d. rewrite Z. pose proof (uniform_positive K HK k).
      apply Rmult_le_pos; lra. }
  assert (C : dot K w d = 1 / INR K - collision K w).
  { unfold d, uniform, dot, collision.
    assert (E : forall m, (Σ k < K, w k * (m - w k)) = m * sum K w - (Σ k < K, w k ^ 2)) by (intros m; termwise K).
    rewrite E, (proj2 (proj1 R)). ring. }
  assert (0 < eta * B) by lra. fold g.
  assert (B <> 0) by (intros Z; rewrite Z in *; lra).
  assert (g <> 0) by (unfold g; lra).
  assert (B * g < 0) by (destruct Bg as [|Z]; [assumption|apply Rmult_integral in Z; tauto]).
  assert (eta * B * (B * g) < 0) by nra. assert (0 < B ^ 2) by nra. nra.
Qed.
