(* thm-a-complete: an optimum is a stationary point on its support. The idea is that of the book; both cases are done
   by hand, without a general theorem on multipliers, since the constraint is quadratic. *)
Require Import Ranalysis.
From Formal Require Export Peak Size.

(* All positive numbers are larger than a small multiple of anything, and finitely many at once. *)
Lemma small x y : 0 < x -> exists s0, 0 < s0 /\ forall s, 0 < s <= s0 -> s * y < x.
Proof.
  intros X. pose proof (Rabs_pos y). pose proof (Rle_abs y). exists (x / (Rabs y + 1)).
  assert (0 < x / (Rabs y + 1)) by (apply Rdiv_lt_0_compat; lra). split; [assumption|]. intros s [S L].
  assert (s * (Rabs y + 1) <= x).
  { apply Rle_trans with (x / (Rabs y + 1) * (Rabs y + 1)); [apply Rmult_le_compat_r; lra|]. right. field. lra. }
  nra.
Qed.

Lemma small_all K (w y : nat -> R) : exists s0, 0 < s0 /\ forall s, 0 < s <= s0 -> forall k, (k < K)%nat -> 0 < w k ->
  s * y k < w k.
Proof.
  induction K as [|n (s0 & P & H)]; [exists 1; split; [lra|lia]|].
  destruct (Rlt_dec 0 (w n)) as [W|W].
  - destruct (small (w n) (y n) W) as (s1 & P1 & H1). exists (Rmin s0 s1). split; [now apply Rmin_glb_lt|].
    intros s [S L] k Hk Wk. pose proof (Rmin_l s0 s1). pose proof (Rmin_r s0 s1).
    destruct (Nat.eq_dec k n) as [->|]; [apply H1; lra|]. apply H; try lra; lia.
  - exists s0. split; [assumption|]. intros s S k Hk Wk. destruct (Nat.eq_dec k n) as [->|]; [contradiction|].
    apply H; try lra; lia.
Qed.

(* A feasible weighting with the support of an optimum, or more, is no better. *)
Lemma no_better K a f t w v : optimal K a f t w -> weighting K v -> b K a f t v = 0 ->
  (forall k, (k < K)%nat -> 0 < w k -> 0 < v k) -> collision K w <= collision K v.
Proof.
  intros [(W & S & _) O] V B P. apply O. destruct (spread_needs_pair K a f w W S) as (i & j & (L & D) & Wi & Wj).
  apply reaches_iff; try assumption. apply (spread_positive K a f v i j); try assumption; apply P; (assumption || lia).
Qed.

(* If the gradient is constant on the support, so are the weights: the way to any one system of it is feasible. *)
Lemma flat_gradient K a f t w m : optimal K a f t w -> (forall k, (k < K)%nat -> 0 < w k -> gradient K a f t w k = m) ->
  forall i, (i < K)%nat -> 0 < w i -> w i = collision K w.
Proof.
  intros Opt G. pose proof (proj1 (proj1 Opt)) as W. pose proof (reaches_b K a f t w (proj1 Opt)) as Bw.
  assert (Ge : forall i, (i < K)%nat -> 0 < w i -> collision K w <= w i).
  { intros i Hi Wi. set (d := fun k => at_ i k - w k).
    assert (Sat : forall x, dot K x (at_ i) = x i).
    { intros x. unfold dot. rewrite (sum_ext K _ (fun k => at_ i k * x k)) by (intros; ring). now apply sum_at. }
    assert (Gd : dot K (gradient K a f t w) d = 0).
    { assert (E : forall k, (k < K)%nat -> gradient K a f t w k * d k = m * d k).
      { intros k Hk. destruct (proj1 W k Hk) as [P|Z]; [now rewrite G|].
        unfold d, at_. rewrite <- Z. destruct (Nat.eq_dec k i) as [->|]; [lra|ring]. }
      unfold dot. rewrite (sum_ext K _ _ E), sum_scale. unfold d.
      rewrite (sum_ext K _ (fun k => at_ i k * 1 + -1 * w k)) by (intros; ring).
      rewrite sum_plus, sum_scale, sum_at, (proj2 W) by assumption. ring. }
    assert (Fd : form K a f t d = 0).
    { pose proof (constraint_expansion K a f t w d) as X. rewrite Bw, Gd in X.
      rewrite (b_ext K a f t _ (at_ i)) in X by (intros; unfold shifted, d; ring).
      rewrite (proj2 (printed_range_is_false K a f t i Hi)) in X. lra. }
    set (D := dot K d d). assert (D0 : 0 <= D) by apply dot_self.
    assert (Wd : dot K w d = w i - collision K w).
    { unfold d, dot. rewrite (sum_ext K _ (fun k => at_ i k * w k + -1 * w k ^ 2)) by (intros; ring).
      rewrite sum_plus, sum_scale, sum_at by assumption. unfold collision. ring. }
    destruct (Rle_dec (collision K w) (w i)) as [|N]; [assumption|exfalso].
    destruct (small (2 * (collision K w - w i)) D) as (s0 & P0 & H0); [lra|].
    set (s := Rmin s0 (1 / 2)). assert (S : 0 < s <= s0 /\ s <= 1 / 2).
    { unfold s. pose proof (Rmin_l s0 (1 / 2)). pose proof (Rmin_r s0 (1 / 2)).
      split; [split; [apply Rmin_glb_lt|]|]; lra. }
    specialize (H0 s (proj1 S)). set (v := shifted w (fun k => s * d k)).
    assert (Sd : forall x, dot K x (fun k => s * d k) = s * dot K x d).
    { intros x. unfold dot. rewrite <- sum_scale. apply sum_ext. intros. ring. }
    assert (V : weighting K v).
    { unfold v, shifted, d. split.
      - intros k Hk. pose proof (proj1 W k Hk). unfold at_. destruct (Nat.eq_dec k i); nra.
      - rewrite (sum_ext K _ (fun k => (1 - s) * w k + s * (at_ i k * 1))) by (intros; ring).
        rewrite sum_plus, !sum_scale, sum_at, (proj2 W) by assumption. ring. }
    assert (L : collision K w <= collision K v).
    { apply (no_better K a f t w v Opt V).
      - unfold v. rewrite constraint_expansion, Bw. unfold form in *. rewrite !Sd, Gd.
        replace (0 + s * 0 + (t * (s * dot K f d) ^ 2 - (1 - t) * (s * dot K a d) ^ 2))
          with (s ^ 2 * (t * dot K f d ^ 2 - (1 - t) * dot K a d ^ 2)) by ring. rewrite Fd. ring.
      - intros k Hk P. unfold v, shifted, d, at_. destruct (Nat.eq_dec k i); nra. }
    assert (Cv : collision K v = collision K w + 2 * s * dot K w d + s ^ 2 * D).
    { unfold v, collision, shifted, D, dot. generalize d. intros e. termwise K. }
    rewrite Cv, Wd in L. assert (0 <= s * (2 * (w i - collision K w) + s * D)) by lra. nra. }
  intros i Hi Wi. specialize (Ge i Hi Wi) as Gi.
  assert (Z : (Σ k < K, w k * (w k - collision K w)) = 0).
  { generalize (eq_refl (collision K w)). generalize (collision K w) at 2 3. intros c Ec.
    assert (E : (Σ k < K, w k * (w k - c)) = collision K w - c * sum K w) by (unfold collision; termwise K).
    rewrite E, (proj2 W), Ec. ring. }
  assert (T : w i * (w i - collision K w) = 0).
  { apply (sum_all_zero K (fun k => w k * (w k - collision K w))); try assumption.
    intros k Hk. destruct (proj1 W k Hk) as [P|Zk]; [|rewrite <- Zk; lra]. specialize (Ge k Hk P). nra. }
  nra.
Qed.

(* A step along −q, put back onto the constraint along h. For small s the correction is at most of second order. *)
Lemma correction H A B C : 0 < H -> exists M s0, 0 < M /\ 0 < s0 /\ forall s, 0 < s <= s0 ->
  exists n, - (M * s ^ 2) <= n <= M * s ^ 2 /\ n * H + s ^ 2 * A - 2 * s * n * B + n ^ 2 * C = 0.
Proof.
  intros PH. set (M := (Rabs A + 1) / H). pose proof (Rabs_pos A). pose proof (Rabs_pos B). pose proof (Rabs_pos C).
  assert (PM : 0 < M) by (apply Rdiv_lt_0_compat; lra). assert (MH : M * H = Rabs A + 1) by (unfold M; field; lra).
  destruct (small 1 (2 * M * Rabs B + M ^ 2 * Rabs C)) as (s1 & P1 & Sm); [lra|].
  exists M, (Rmin s1 1). pose proof (Rmin_l s1 1). pose proof (Rmin_r s1 1).
  split; [assumption|split; [apply Rmin_glb_lt; lra|]]. intros s S.
  specialize (Sm s ltac:(lra)).
  set (F := fun n => n * H + s ^ 2 * A - 2 * s * n * B + n ^ 2 * C).
  assert (Cont : continuity F) by (unfold F; reg).
  set (N := M * s ^ 2). assert (PN : 0 < N) by (apply Rmult_lt_0_compat; [assumption|nra]).
  assert (BA : - Rabs A <= A <= Rabs A) by (split; [pose proof (Rle_abs (- A));
    rewrite Rabs_Ropp in *|pose proof (Rle_abs A)]; lra).
  assert (BB : - Rabs B <= B <= Rabs B) by (split; [pose proof (Rle_abs (- B));
    rewrite Rabs_Ropp in *|pose proof (Rle_abs B)]; lra).
  assert (BC : - Rabs C <= C <= Rabs C) by (split; [pose proof (Rle_abs (- C));
    rewrite Rabs_Ropp in *|pose proof (Rle_abs C)]; lra).
  assert (X : s ^ 2 <= s) by nra.
  assert (Y : forall e, -1 <= e <= 1 ->
    - (s * (2 * M * Rabs B + M ^ 2 * Rabs C)) <= - 2 * s * e * M * B + s ^ 2 * M ^ 2 * C
                        <= s * (2 * M * Rabs B + M ^ 2 * Rabs C)).
  { intros e He. assert (T1 : - Rabs B <= - e * B <= Rabs B) by nra.
    assert (T2 : - (2 * s * M * Rabs B) <= 2 * s * M * (- e * B) <= 2 * s * M * Rabs B).
    { assert (0 < 2 * s * M) by nra. split; nra. }
    assert (P2 : 0 < M ^ 2) by nra.
    assert (T3 : - (s * M ^ 2 * Rabs C) <= s ^ 2 * M ^ 2 * C <= s * M ^ 2 * Rabs C).
    { assert (U : s ^ 2 * M ^ 2 * Rabs C <= s * M ^ 2 * Rabs C) by (repeat apply Rmult_le_compat_r; lra).
      assert (0 <= s ^ 2 * M ^ 2) by nra. split; nra. }
    lra. }
  assert (Up : 0 <= F N).
  { replace (F N) with (s ^ 2 * (M * H + A + (- 2 * s * 1 * M * B + s ^ 2 * M ^ 2 * C))) by (unfold F, N; ring).
    apply Rmult_le_pos; [nra|]. specialize (Y 1 ltac:(lra)). lra. }
  assert (Down : F (- N) <= 0).
  { replace (F (- N)) with (- (s ^ 2 * (M * H - A - (- 2 * s * (-1) * M * B + s ^ 2 * M ^ 2 * C)))) by (unfold F, N;
      ring).
    specialize (Y (-1) ltac:(lra)).
    assert (0 <= s ^ 2 * (M * H - A - (- 2 * s * (-1) * M * B + s ^ 2 * M ^ 2 * C))) by (apply Rmult_le_pos; nra). lra.
    }
  destruct (IVT_cor F (- N) N Cont) as (n & Hn & Z); [lra|nra|]. exists n. split; assumption.
Qed.

(* No first-order descent is left at an optimum: a direction d that keeps the constraint to first order, takes no
   weight below zero and lowers the cost can be put back onto the constraint along h. *)
Lemma no_descent K a f t w h d : optimal K a f t w ->
  sum K h = 0 -> (forall k, (k < K)%nat -> w k = 0 -> h k = 0) -> 0 < dot K (gradient K a f t w) h ->
  sum K d = 0 -> (forall k, (k < K)%nat -> w k = 0 -> 0 <= d k) -> dot K (gradient K a f t w) d = 0 ->
  0 <= dot K w d.
Proof.
  intros Opt Sh Oh PH Sd Od Gd. destruct (Rle_dec 0 (dot K w d)) as [|N]; [assumption|exfalso].
  pose proof (proj1 (proj1 Opt)) as W. pose proof (reaches_b K a f t w (proj1 Opt)) as Bw.
  set (g := gradient K a f t w) in *. set (H := dot K g h) in *. set (Q := dot K d d). set (E := dot K d h).
  set (L := dot K h h).
  assert (Q0 : 0 <= Q) by apply dot_self. assert (L0 : 0 <= L) by apply dot_self.
  set (A := form K a f t d). set (C := form K a f t h).
  set (B := t * dot K f d * dot K f h - (1 - t) * dot K a d * dot K a h).
  destruct (correction H A (- B) C PH) as (M & s1 & PM & P1 & Corr).
  set (G := dot K w h).
  destruct (small (- 2 * dot K w d) (Q + 2 * M * Rabs G + 2 * M * Rabs E + M ^ 2 * L)) as (s2 & P2 & Descent); [lra|].
  destruct (small_all K w (fun k => Rabs (d k) + M * Rabs (h k))) as (s3 & P3 & Stay).
  set (s := Rmin (Rmin s1 s2) (Rmin s3 1)).
  assert (S : 0 < s <= s1 /\ s <= s2 /\ s <= s3 /\ s <= 1).
  { unfold s. pose proof (Rmin_l (Rmin s1 s2) (Rmin s3 1)). pose proof (Rmin_r (Rmin s1 s2) (Rmin s3 1)).
    pose proof (Rmin_l s1 s2). pose proof (Rmin_r s1 s2). pose proof (Rmin_l s3 1). pose proof (Rmin_r s3 1).
    repeat split; try lra. repeat apply Rmin_glb_lt; lra. }
  destruct (Corr s (proj1 S)) as (nu & Hnu & Zero). specialize (Descent s ltac:(lra)). specialize (Stay s ltac:(lra)).
  assert (S2 : s ^ 2 <= s) by nra. assert (S0 : 0 < s ^ 2) by nra.
  assert (Anu : Rabs nu <= M * s ^ 2) by (apply Rabs_le; lra).
  assert (By_nu : forall x, nu * x <= M * s ^ 2 * Rabs x).
  { intros x. apply Rle_trans with (Rabs nu * Rabs x); [rewrite <- Rabs_mult; apply Rle_abs|].
    apply Rmult_le_compat_r; [apply Rabs_pos|assumption]. }
  set (e := combination d h s nu). set (v := shifted w e).
  assert (De : forall x, dot K x e = s * dot K x d + nu * dot K x h) by (intros; unfold e; apply dot_combination).
  assert (Inside : forall k, (k < K)%nat -> 0 < w k -> 0 < v k).
  { intros k Hk P. specialize (Stay k Hk P). unfold v, shifted, e, combination.
    assert (X1 : s * d k >= - (s * Rabs (d k))) by (pose proof (Rle_abs (- d k)); rewrite Rabs_Ropp in *; nra).
    assert (X2 : nu * h k >= - (M * s ^ 2 * Rabs (h k))) by (pose proof (By_nu (- h k)); rewrite Rabs_Ropp in *; lra).
    assert (X3 : M * s ^ 2 * Rabs (h k) <= s * (M * Rabs (h k))).
    { replace (M * s ^ 2 * Rabs (h k)) with (s ^ 2 * (M * Rabs (h k))) by ring.
      apply Rmult_le_compat_r; [apply Rmult_le_pos; [lra|apply Rabs_pos]|assumption]. }
    lra. }
  assert (V : weighting K v).
  { split.
    - intros k Hk. destruct (proj1 W k Hk) as [P|Zk]; [apply Rlt_le; now apply Inside|]. symmetry in Zk.
      unfold v, shifted, e, combination. rewrite (Oh k Hk Zk), Zk. specialize (Od k Hk Zk). nra.
    - unfold v, shifted. rewrite sum_plus, (proj2 W). change (1 + sum K e = 1). unfold e.
      rewrite sum_combination, Sd, Sh. ring. }
  assert (Le : collision K w <= collision K v).
  { apply (no_better K a f t w v Opt V); [|assumption]. unfold v. rewrite constraint_expansion, Bw. fold g.
    rewrite De, Gd. fold H. unfold form. rewrite !De. etransitivity; [|exact Zero]. unfold A, B, C, form. ring. }
  assert (Cv : collision K v = collision K w + 2 * dot K w e + dot K e e).
  { unfold v, collision, shifted, dot. generalize e. intros y. termwise K. }
  assert (EE : dot K e e = s ^ 2 * Q + 2 * s * (nu * E) + nu ^ 2 * L).
  { rewrite De, (dot_comm K e d), (dot_comm K e h), !De, (dot_comm K h d). fold Q E L. ring. }
  rewrite Cv, EE, De in Le. fold G in Le.
  assert (Y1 : nu * G <= s ^ 2 * (M * Rabs G)) by (pose proof (By_nu G); lra).
  assert (Y2 : s * (nu * E) <= s ^ 2 * (M * Rabs E)).
  { pose proof (By_nu E). pose proof (Rabs_pos E).
    assert (0 <= M * s ^ 2 * Rabs E) by (apply Rmult_le_pos; [nra|assumption]). nra. }
  assert (Y3 : nu ^ 2 * L <= s ^ 2 * (M ^ 2 * L)).
  { assert (nu ^ 2 <= (M * s ^ 2) ^ 2) by (apply pow_maj_Rabs; assumption).
    assert ((M * s ^ 2) ^ 2 <= s ^ 2 * M ^ 2) by nra. nra. }
  assert (0 < s * (- 2 * dot K w d - s * (Q + 2 * M * Rabs G + 2 * M * Rabs E + M ^ 2 * L)))
    by (apply Rmult_lt_0_compat; lra).
  nra.
Qed.

(* The conditions of Karush, Kuhn and Tucker: (i) and (ii), unless the gradient is constant on the support. *)
Lemma karush_kuhn_tucker K a f t w : optimal K a f t w ->
  (exists m, forall k, (k < K)%nat -> 0 < w k -> gradient K a f t w k = m)
  \/ exists eta lam,
    (forall k, (k < K)%nat -> 0 < w k -> w k + eta * gradient K a f t w k + lam = 0)
    /\ (forall k, (k < K)%nat -> w k = 0 -> lam + eta * gradient K a f t w k >= 0).
Proof.
  intros Opt. pose proof (proj1 (proj1 Opt)) as W.
  set (g := gradient K a f t w). set (i := inside w). set (n := size K w). pose proof (size_positive K w W) as N.
  fold n in N.
  assert (I : forall k, (k < K)%nat -> 0 < w k -> i k = 1)
    by (intros k _ P; unfold i, inside; destruct (Rlt_dec 0 (w k)); [reflexivity|contradiction]).
  assert (I0 : forall k, (k < K)%nat -> w k = 0 -> i k = 0)
    by (intros k _ P; unfold i, inside; destruct (Rlt_dec 0 (w k)); [lra|reflexivity]).
  set (m := dot K i g / n). set (h := fun k => i k * (g k - m)). set (p := fun k => w k - i k / n).
  assert (Sh : sum K h = 0).
  { unfold h. rewrite (sum_ext K _ (fun k => i k * g k + - m * i k)) by (intros; ring). rewrite sum_plus, sum_scale.
    change (sum K i) with n. change (Σ k < K, i k * g k) with (dot K i g). unfold m. field. lra. }
  assert (Sp : sum K p = 0).
  { unfold p. rewrite (sum_ext K _ (fun k => w k + - / n * i k)) by (intros; field; lra).
    rewrite sum_plus, sum_scale, (proj2 W).
    change (sum K i) with n. field. lra. }
  destruct (Req_dec (dot K h h) 0) as [Z|NZ].
  { left. exists m. intros j Hj Pj. pose proof (dot_self_zero K h Z j Hj) as X. unfold h in X.
    rewrite I in X by assumption. lra. }
  right. set (H := dot K h h) in *. assert (PH : 0 < H) by (pose proof (dot_self K h); unfold H in *; lra).
  set (eta := - dot K h p / H). set (q := combination p h 1 eta).
  assert (Hq : dot K h q = 0) by (unfold q; rewrite dot_combination; fold H; unfold eta; field; lra).
  assert (Sq : sum K q = 0) by (unfold q; rewrite sum_combination, Sp, Sh; ring).
  assert (Off : forall k, (k < K)%nat -> w k = 0 -> h k = 0 /\ q k = 0).
  { intros k Hk Zk. unfold q, combination, h, p. rewrite (I0 k Hk Zk), Zk. split; [ring|]. unfold Rdiv. ring. }
  (* what g and w see of a direction on the support *)
  assert (Along : forall d, sum K d = 0 -> (forall k, (k < K)%nat -> w k = 0 -> d k = 0) ->
    dot K g d = dot K h d /\ dot K w d = dot K p d).
  { intros d Sd Od. assert (Id : (Σ k < K, i k * d k) = 0).
    { rewrite <- Sd. apply sum_ext. intros k Hk. destruct (proj1 W k Hk) as [P|Zk]; [rewrite I by assumption; ring|].
      rewrite (Od k Hk (eq_sym Zk)). ring. }
    split.
    - assert (E : dot K h d = (Σ k < K, i k * d k * g k) - m * (Σ k < K, i k * d k))
        by (unfold h, dot; generalize m g; intros c y; termwise K).
      rewrite E, Id, Rmult_0_r, Rminus_0_r. apply sum_ext. intros k Hk.
      destruct (proj1 W k Hk) as [P|Zk]; [rewrite I by assumption; ring|]. rewrite (Od k Hk (eq_sym Zk)). ring.
    - assert (E : dot K p d = dot K w d - / n * (Σ k < K, i k * d k)).
      { unfold p, dot. generalize n. intros c. unfold Rdiv. termwise K. }
      rewrite E, Id. ring. }
  destruct (Along q Sq (fun k Hk Zk => proj2 (Off k Hk Zk))) as [Gq Wq]. rewrite Hq in Gq.
  destruct (Along h Sh (fun k Hk Zk => proj1 (Off k Hk Zk))) as [Gh _]. fold H in Gh.
  assert (Pq : dot K w q = dot K q q).
  { rewrite Wq. unfold q at 3. rewrite dot_combination, (dot_comm K q h), Hq, (dot_comm K q p). ring. }
  assert (Zq : dot K q q = 0).
  { pose proof (dot_self K q).
    assert (0 <= dot K w (fun k => -1 * q k)).
    { apply (no_descent K a f t w h); try assumption; fold g.
      - intros k Hk Zk. now apply Off.
      - rewrite Gh. assumption.
      - rewrite sum_scale, Sq. ring.
      - intros k Hk Zk. rewrite (proj2 (Off k Hk Zk)). lra.
      - rewrite dot_scaled, Gq. ring. }
    rewrite dot_scaled, Pq in *. lra. }
  assert (First : forall k, (k < K)%nat -> 0 < w k -> w k + eta * g k + (- / n - eta * m) = 0).
  { intros k Hk P. pose proof (dot_self_zero K q Zq k Hk) as X.
    unfold q, combination, h, p in X. rewrite I in X by assumption. unfold Rdiv in X. lra. }
  exists eta, (- / n - eta * m). split; [exact First|]. set (lam := - / n - eta * m) in *.
  intros j Hj Zj. set (d := fun k => (at_ j k - w k) + (dot K g w - g j) / H * h k).
  assert (Sat : forall x, dot K x (at_ j) = x j).
  { intros x. unfold dot. rewrite (sum_ext K _ (fun k => at_ j k * x k)) by (intros; ring). now apply sum_at. }
  assert (Dd : forall x, dot K x d = x j - dot K x w + (dot K g w - g j) / H * dot K x h).
  { intros x. rewrite <- Sat. unfold d. generalize ((dot K g w - g j) / H). intros c. unfold dot. generalize h.
    intros y. termwise K. }
  assert (Sd : sum K d = 0).
  { rewrite (sum_ext K d (fun k => 1 * d k)) by (intros; ring). fold (dot K (fun _ => 1) d). rewrite Dd.
    replace (dot K (fun _ => 1) w) with 1 by (unfold dot; rewrite (sum_ext K _ w) by (intros; ring); symmetry; apply W).
    replace (dot K (fun _ => 1) h) with 0 by (unfold dot; rewrite (sum_ext K _ h) by (intros; ring); now symmetry).
    ring. }
  assert (Off_d : forall k, (k < K)%nat -> w k = 0 -> d k = at_ j k).
  { intros k Hk Zk. unfold d. rewrite (proj1 (Off k Hk Zk)), Zk. ring. }
  assert (Gd : dot K g d = 0) by (rewrite Dd, Gh; field; lra).
  assert (Wd : dot K w d = lam + eta * g j).
  { assert (E : (Σ k < K, (w k + eta * g k + lam) * d k) = dot K w d + eta * dot K g d + lam * sum K d).
    { unfold dot. generalize eta lam g d. intros o x y z. termwise K. }
    rewrite Gd, Sd in E.
    assert (F : (Σ k < K, (w k + eta * g k + lam) * d k) = (Σ k < K, at_ j k * (lam + eta * g k))).
    { apply sum_ext. intros k Hk. destruct (proj1 W k Hk) as [P|Zk].
      - rewrite (First k Hk P). unfold at_. destruct (Nat.eq_dec k j) as [->|]; [lra|ring].
      - symmetry in Zk. rewrite (Off_d k Hk Zk), Zk. ring. }
    rewrite F, (sum_at K j (fun k => lam + eta * g k)) in E by assumption. lra. }
  rewrite <- Wd. apply Rle_ge. apply (no_descent K a f t w h d); try assumption; fold g.
  - intros k Hk Zk. now apply Off.
  - rewrite Gh. assumption.
  - intros k Hk Zk. rewrite (Off_d k Hk Zk). unfold at_. destruct (Nat.eq_dec k j); lra.
Qed.

(* thm-a-complete: on the support of an optimum w + η∇b + λ = 0, for some η and λ. *)
Theorem optimum_is_stationary : forall K a f t w,
  optimal K a f t w ->
  exists eta lam, forall k, (k < K)%nat -> 0 < w k ->
    w k + eta * gradient K a f t w k + lam = 0.
Proof.
  intros K a f t w Opt.
  destruct (karush_kuhn_tucker K a f t w Opt) as [(m & F)|(eta & lam & I & _)]; [|now exists eta, lam].
  exists 0, (- collision K w). intros k Hk P. rewrite (flat_gradient K a f t w m Opt F k Hk P). ring.
Qed.
