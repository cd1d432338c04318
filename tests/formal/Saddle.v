(* thm-cr-saddle: optimal weights are the heights of one saddle over the plane of scores, cut off at zero. *)
From Formal Require Export Lagrange.

Theorem clipped_saddle : forall K a f t w,
  optimal K a f t w ->
  let natural := balance K a f (uniform K) in t <> natural ->
  exists eta, eta * (t - natural) < 0 /\ forall k, (k < K)%nat ->
    w k = Rmax 0 (collision K w - eta * around K a f t w k).
Proof.
  intros K a f t w Opt natural T. pose proof (proj1 (proj1 Opt)) as W.
  pose proof (reaches_b K a f t w (proj1 Opt)) as Bw.
  set (h := around K a f t w). set (g := gradient K a f t w). set (P := collision K w).
  set (c := t * mean K w f ^ 2 - (1 - t) * mean K w a ^ 2).
  assert (G : forall k, g k = h k + c) by (intros; unfold g, h, around, c; apply gradient_is_saddle).
  assert (H0 : dot K w h = 0) by (unfold h; rewrite around_mean by apply W; assumption).
  assert (Gw : dot K w g = c).
  { unfold dot. rewrite (sum_ext K _ (fun k => w k * h k + c * w k)) by (intros; rewrite G; ring).
    rewrite sum_plus, sum_scale, (proj2 W). fold (dot K w h). rewrite H0. ring. }
  destruct (karush_kuhn_tucker K a f t w Opt) as [(m & F)|(eta & lam & I & II)].
  - (* the gradient is constant on the support *)
    fold g in F. assert (M : m = c).
    { rewrite <- Gw. unfold dot. rewrite (sum_ext K _ (fun k => m * w k)).
      - rewrite sum_scale, (proj2 W). ring.
      - intros k Hk. destruct (proj1 W k Hk) as [Pk|Zk]; [rewrite (F k Hk Pk); ring|rewrite <- Zk; ring]. }
    assert (Flat : forall k, (k < K)%nat -> 0 < w k -> w k = P) by (intros; now apply (flat_gradient K a f t w m)).
    assert (PP : 0 < P).
    { pose proof (reaches_some K a f t w (proj1 Opt)) as HK. pose proof (collision_at_least K w HK W).
      pose proof (INR_K K HK).
      assert (0 < 1 / INR K) by (apply Rdiv_lt_0_compat; lra). unfold P. lra. }
    assert (Off : forall j, (j < K)%nat -> w j = 0 -> 0 < - (h j * (t - natural))).
    { intros j Hj Zj. destruct (Rlt_dec 0 (- (h j * (t - natural)))) as [|N]; [assumption|exfalso].
      set (d := fun k => at_ j k - w k).
      assert (Dd : forall x, dot K x d = x j - dot K x w).
      { intros x. unfold d, dot. rewrite (sum_ext K _ (fun k => at_ j k * x k + -1 * (x k * w k))) by (intros; ring).
        rewrite sum_plus, sum_scale, sum_at by assumption. ring. }
      assert (Gd : dot K g d = h j) by (rewrite Dd, (dot_comm K g w), Gw, G; ring).
      assert (Fd : form K a f t d = - h j).
      { pose proof (constraint_expansion K a f t w d) as X. fold g in X. rewrite Bw, Gd in X.
        rewrite (b_ext K a f t _ (at_ j)) in X by (intros; unfold shifted, d; ring).
        rewrite (proj2 (printed_range_is_false K a f t j Hj)) in X. lra. }
      assert (Wd : dot K w d = - P).
      { rewrite Dd, Zj. unfold P, collision, dot. rewrite (sum_ext K _ (fun k => w k ^ 2)) by (intros; ring). ring. }
      destruct (small (2 * P) (dot K d d)) as (s0 & P0 & Sm); [lra|].
      set (s := Rmin s0 (1 / 2)). assert (S : 0 < s <= s0 /\ s <= 1 / 2).
      { unfold s. pose proof (Rmin_l s0 (1 / 2)). pose proof (Rmin_r s0 (1 / 2)).
        split; [split; [apply Rmin_glb_lt|]|]; lra. }
      specialize (Sm s (proj1 S)). set (v := shifted w (fun k => s * d k)).
      assert (V : weighting K v).
      { unfold v, shifted, d. split.
        - intros k Hk. pose proof (proj1 W k Hk). unfold at_. destruct (Nat.eq_dec k j); nra.
        - rewrite (sum_ext K _ (fun k => (1 - s) * w k + s * (at_ j k * 1))) by (intros; ring).
          rewrite sum_plus, !sum_scale, sum_at, (proj2 W) by assumption. ring. }
      assert (SV : 0 < spread K a f v).
      { destruct (spread_needs_pair K a f w W (proj1 (proj2 (proj1 Opt)))) as (p & q & (L & D) & Wp & Wq).
        assert (Pos : forall k, 0 < w k -> 0 < v k) by (intros k Pk; unfold v, shifted, d, at_;
          destruct (Nat.eq_dec k j); nra).
        apply (spread_positive K a f v p q); auto. }
      assert (Bv : b K a f t v = s * (1 - s) * h j).
      { unfold v. rewrite constraint_expansion. fold g. rewrite Bw. unfold form in *. rewrite !dot_scaled, Gd.
        replace (t * (s * dot K f d) ^ 2 - (1 - t) * (s * dot K a d) ^ 2)
          with (s ^ 2 * (t * dot K f d ^ 2 - (1 - t) * dot K a d ^ 2)) by ring. rewrite Fd. ring. }
      pose proof (constraint_is_distance K a f t v SV) as BV. rewrite Bv in BV.
      assert (Over : 0 <= (balance K a f v - t) * (t - natural)).
      { apply Rmult_le_reg_r with (spread K a f v); [assumption|]. rewrite Rmult_0_l.
        replace ((balance K a f v - t) * (t - natural) * spread K a f v)
          with ((balance K a f v - t) * spread K a f v * (t - natural)) by ring.
        rewrite <- BV. assert (0 <= s * (1 - s) * (h j * (t - natural))) by (apply Rmult_le_pos; nra). lra. }
      assert (Le : collision K w <= collision K v).
      { apply (no_overshoot K a f t w v Opt V SV). fold natural.
        destruct (Rtotal_order t natural) as [L|[E|L]]; [right|contradiction|left]; split; try lra; nra. }
      assert (Cv : collision K v = collision K w + 2 * s * dot K w d + s ^ 2 * dot K d d).
      { unfold v, collision, shifted, dot. generalize d. intros e. termwise K. }
      rewrite Cv, Wd in Le. assert (0 < s * (2 * P - s * dot K d d)) by (apply Rmult_lt_0_compat; lra). lra. }
    destruct (small_all K (fun k => - (h k * (t - natural))) (fun _ => P)) as (s & S & All).
    specialize (All s ltac:(lra)). exists (- ((t - natural) / s)). split.
    + assert (0 < (t - natural) ^ 2) by (apply square_positive; lra).
      assert (0 < (t - natural) ^ 2 / s) by now apply Rdiv_lt_0_compat. unfold Rdiv in *. lra.
    + intros k Hk. fold h. destruct (proj1 W k Hk) as [Pk|Zk].
      * assert (Z : h k = 0) by (pose proof (F k Hk Pk); rewrite G in *; lra). rewrite Z, (Flat k Hk Pk).
        rewrite Rmax_right; lra.
      * symmetry in Zk. rewrite Zk. pose proof (Off k Hk Zk) as O. specialize (All k Hk O).
        rewrite Rmax_left; [reflexivity|]. apply Rmult_le_reg_l with s; [assumption|].
        replace (s * (P - - ((t - natural) / s) * h k)) with (s * P + h k * (t - natural)) by (field; lra). lra.
  - exists eta. split; [now apply (multiplier_sign K a f t eta lam w)|]. fold g in I, II.
    assert (Lam : P + eta * c + lam = 0).
    { assert (Z : (Σ k < K, w k * (w k + eta * g k + lam)) = 0).
      { apply sum_zero. intros k Hk.
        destruct (proj1 W k Hk) as [Pk|Zk]; [rewrite (I k Hk Pk); ring|rewrite <- Zk; ring]. }
      assert (E : (Σ k < K, w k * (w k + eta * g k + lam)) = P + eta * dot K w g + lam * sum K w).
      { unfold P, collision, dot. generalize g. intros y. termwise K. }
      rewrite E, Gw, (proj2 W) in Z. lra. }
    intros k Hk. fold h. destruct (proj1 W k Hk) as [Pk|Zk].
    + specialize (I k Hk Pk). rewrite G in I. rewrite Rmax_right; lra.
    + symmetry in Zk. specialize (II k Hk Zk). rewrite G in II. rewrite Rmax_left; lra.
Qed.
