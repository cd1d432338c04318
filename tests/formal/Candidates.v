(* thm-a-five for weightings, for every K: a support that can reach the target has at most five stationary points.
   Here the pool is the support: all K systems may have weight, of either sign. *)
From Formal Require Export Spectrum Quintic Peak.

(* On the plane, in the constraint, and a gradient that vanishes: the point a search has to look at. *)
Definition candidate K a f t w :=
  sum K w = 1 /\ b K a f t w = 0 /\
  exists eta lam, forall k, (k < K)%nat ->
    w k + eta * gradient K a f t w k + lam = 0.

Definition weights K (w : nat -> R) := map w (seq 0 K).

Lemma weights_equal K w v : (forall k, (k < K)%nat -> w k = v k) -> weights K w = weights K v.
Proof. intros H. apply map_ext_in. intros k I. apply in_seq in I. apply H. lia. Qed.

(* A stationary point seen along a zero-sum direction v. *)
Lemma along K a f t w u eta lam v : sum K v = 0 ->
  (forall k, (k < K)%nat -> w k + eta * gradient K a f t w k + lam = 0) ->
  let d := fun k => w k - u k in
  dot K v d + dot K v u + eta * dot K v (gradient K a f t u)
  + 2 * eta * (t * dot K f v * dot K f d - (1 - t) * dot K a v * dot K a d) = 0.
Proof.
  intros V I d.
  assert (M : forall x, mean K w x = mean K u x + dot K x d).
  { intros x. unfold mean, dot, d. rewrite <- sum_plus. apply sum_ext. intros. ring. }
  assert (Z : (Σ k < K, (w k + eta * gradient K a f t w k + lam) * v k) = 0)
    by (apply sum_zero; intros k Hk; rewrite (I k Hk); ring).
  rewrite <- Z. unfold gradient. rewrite !M. unfold d at 1. unfold dot at 1 2 3 4 6.
  generalize (dot K a d) (dot K f d) (mean K u a) (mean K u f). intros A F P Q.
  enough (E : (Σ k < K, (w k + eta * ((1 - t) * (a k ^ 2 - 2 * (P + A) * a k) - t * (f k ^ 2 - 2 * (Q + F) * f k))
    + lam) * v k)
    = (Σ k < K, v k * (w k - u k)) + (Σ k < K, v k * u k)
      + eta * (Σ k < K, v k * ((1 - t) * (a k ^ 2 - 2 * P * a k) - t * (f k ^ 2 - 2 * Q * f k)))
      + 2 * eta * (t * (Σ k < K, f k * v k) * F - (1 - t) * (Σ k < K, a k * v k) * A) + lam * sum K v)
    by (rewrite E, V; ring).
  clear. termwise K.
Qed.

Lemma choose {A B} (P : A -> B -> Prop) l : (forall x, In x l -> exists y, P x y) ->
  exists l', map fst l' = l /\ forall z, In z l' -> P (fst z) (snd z).
Proof.
  induction l as [|x l IH]; intros H; [exists []; split; [reflexivity|intros z []]|].
  destruct IH as (l' & E & Q); [intros; apply H; now right|]. destruct (H x (or_introl eq_refl)) as [y Y].
  exists ((x, y) :: l'). split; [simpl; now rewrite E|]. intros z [<-|I]; auto.
Qed.

Lemma dot_uniform K v : sum K v = 0 -> dot K v (uniform K) = 0.
Proof.
  intros H. unfold dot, uniform. rewrite (sum_ext K _ (fun k => 1 / INR K * v k)) by (intros; ring).
  rewrite sum_scale, H. ring.
Qed.

(* Off a line: the stationary points of the pool are those of the eigenbasis. *)
Lemma five_off_a_line K a f t l : 0 < t < 1 -> 0 < gram K (centred K a) (centred K f) -> (0 < K)%nat ->
  (forall w, In w l -> candidate K a f t w) -> NoDup (map (weights K) l) -> (length l <= 5)%nat.
Proof.
  intros T G HK C N. destruct (eigenvalue_signs K a f t T G) as (th1 & th2 & v1 & v2 & Signs & B).
  pose proof B as (S1 & S2 & U1 & U2 & O & E).
  set (u := uniform K). set (g := gradient K a f t u). set (r := centred K g).
  set (r1 := dot K v1 r). set (r2 := dot K v2 r).
  set (n := fun k => r k - r1 * v1 k - r2 * v2 k).
  assert (Dn : forall z, dot K z n = dot K z r - r1 * dot K z v1 - r2 * dot K z v2).
  { intros z. unfold n, dot. generalize r1 r2 r. intros. termwise K. }
  assert (Sn : sum K n = 0).
  { unfold n. rewrite (sum_ext K _ (fun k => r k + (- r1 * v1 k + - r2 * v2 k))) by (intros; ring).
    rewrite !sum_plus, !sum_scale, S1, S2. unfold r. rewrite sum_centred. ring. }
  assert (N1 : dot K v1 n = 0) by (rewrite Dn, U1, O; unfold r1; ring).
  assert (N2 : dot K v2 n = 0) by (rewrite Dn, U2, (dot_comm K v2 v1), O; unfold r2; ring).
  set (rho := sqrt (dot K n n)).
  assert (Rho : rho ^ 2 = dot K n n) by (unfold rho; rewrite <- Rsqr_pow2; apply Rsqr_sqrt, dot_self).
  set (c := b K a f t u).
  (* what the gradient adds along a zero-sum direction *)
  assert (Gr : forall v, sum K v = 0 -> dot K v g = dot K v n + r1 * dot K v v1 + r2 * dot K v v2).
  { intros v V. rewrite Dn, (dot_comm K v g), <- dot_centred by assumption. rewrite (dot_comm K (centred K g) v).
    unfold r. ring. }
  set (way := fun w k => w k - u k : R).
  assert (UW : weighting K u) by now apply uniform_weighting.
  assert (Sw : forall w, sum K w = 1 -> sum K (way w) = 0).
  { intros w W. unfold way. rewrite (sum_ext K _ (fun k => w k + -1 * u k)) by (intros; ring).
    rewrite sum_plus, sum_scale, W, (proj2 UW). ring. }
  (* a candidate along a zero-sum direction *)
  assert (Along : forall w eta lam v, sum K w = 1 -> sum K v = 0 ->
    (forall k, (k < K)%nat -> w k + eta * gradient K a f t w k + lam = 0) ->
    dot K v (way w) + eta * (dot K v n + r1 * dot K v v1 + r2 * dot K v v2)
    + 2 * eta * (th1 * dot K v1 v * dot K v1 (way w) + th2 * dot K v2 v * dot K v2 (way w)) = 0).
  { intros w eta lam v W V I. pose proof (along K a f t w u eta lam v V I) as A. cbv zeta in A.
    change (fun k => w k - u k) with (way w) in A. fold g in A. rewrite E in A by auto.
    unfold u in A at 1. rewrite dot_uniform, Gr in A by assumption. lra. }
  destruct (choose (fun w eta => sum K w = 1 /\ b K a f t w = 0 /\
    exists lam, forall k, (k < K)%nat -> w k + eta * gradient K a f t w k + lam = 0) l) as (l' & L & C').
  { intros w I. destruct (C w I) as (W & Z & eta & lam & Q). exists eta. repeat split; try assumption. now exists lam. }
  set (triple := fun z : (nat -> R) * R => (snd z, dot K v1 (way (fst z)), dot K v2 (way (fst z)))).
  rewrite <- L, map_length, <- (map_length triple).
  apply (at_most_five th1 th2 r1 r2 rho c); [assumption| |].
  - intros x I. apply in_map_iff in I as ([w eta] & <- & I). destruct (C' _ I) as (W & Z & lam & Q). simpl in *.
    pose proof (Along w eta lam v1 W S1 Q) as A1. pose proof (Along w eta lam v2 W S2 Q) as A2.
    pose proof (Along w eta lam n W Sn Q) as A3.
    rewrite (dot_comm K n v1), (dot_comm K n v2), N1, N2 in A3.
    rewrite U1, O, N1, (dot_comm K v2 v1), O in A1. rewrite U2, (dot_comm K v2 v1), O, N2 in A2.
    unfold is_stationary, stationary, eta_of, x1_of, x2_of, D. simpl.
    repeat split; [lra|lra|].
    assert (Bw : b K a f t w = c + dot K g (way w) + form K a f t (way w)).
    { unfold c, g. rewrite <- constraint_expansion. apply b_ext. intros. unfold shifted, way. ring. }
    rewrite Z, (dot_comm K g), (Gr (way w) (Sw w W)), (form_eigen K a f t th1 th2 v1 v2 _ B (Sw w W)) in Bw.
    rewrite (dot_comm K (way w) v1), (dot_comm K (way w) v2), (dot_comm K (way w) n) in Bw. rewrite Rho. lra.
  - rewrite map_map. apply (NoDup_decides _ (fun z => weights K (fst z))); [|rewrite <- map_map, L; assumption].
    intros [w eta] [w' eta'] I I' P. simpl. destruct (C' _ I) as (W & Z & lam & Q).
    destruct (C' _ I') as (W' & Z' & lam' & Q'). simpl in *.
    unfold point, triple, eta_of, x1_of, x2_of in P. simpl in P. injection P as P1 P2 P3.
    apply weights_equal.
    set (e := fun k => w k - w' k).
    assert (De : forall z, dot K z e = dot K z (way w) - dot K z (way w')).
    { intros z. unfold e, way, dot. generalize u. intros y. termwise K. }
    assert (Se : sum K e = 0).
    { unfold e. rewrite (sum_ext K _ (fun k => w k + -1 * w' k)) by (intros; ring). rewrite sum_plus, sum_scale, W, W'.
      ring. }
    assert (V1 : dot K v1 e = 0) by (rewrite De, P1; ring). assert (V2 : dot K v2 e = 0) by (rewrite De, P2; ring).
    pose proof (Along w eta lam e W Se Q) as A. pose proof (Along w' eta' lam' e W' Se Q') as A'.
    rewrite (dot_comm K e v1), (dot_comm K e v2), V1, V2 in A, A'.
    assert (Ee : dot K e e = - (eta - eta') * dot K e n) by (rewrite De; lra).
    assert (Zero : dot K e e = 0).
    { rewrite Ee. destruct (Req_dec rho 0) as [R0|R0].
      - assert (dot K e n = 0) as ->; [|ring]. apply sum_zero. intros k Hk.
        rewrite (dot_self_zero K n) by (try assumption; rewrite <- Rho, R0; ring). ring.
      - assert (eta = eta') as -> by (apply Rmult_eq_reg_r with rho; assumption). ring. }
    intros k Hk. pose proof (dot_self_zero K e Zero k Hk) as X. unfold e in X. lra.
Qed.

(* lem-a-degenerate, one way: on a line all pair balances are equal. *)
Theorem line_has_one_balance : forall K a f,
  gram K (centred K a) (centred K f) = 0 ->
  forall i j i' j', pool_pair K a f i j -> pool_pair K a f i' j' ->
  pair_balance a f i j = pair_balance a f i' j'.
Proof.
  intros K a f G i j i' j' [L D] [L' D']. set (x := centred K a) in *. set (y := centred K f) in *.
  assert (Ax : forall i j, a i - a j = x i - x j) by (intros; unfold x, centred; ring).
  assert (Fy : forall i j, f i - f j = y i - y j) by (intros; unfold y, centred; ring).
  unfold pair_balance. unfold distance in *. rewrite Ax, Fy in D. rewrite Ax, Fy in D'. rewrite !Ax, !Fy.
  assert (Hi : (i < K)%nat) by lia. assert (Hj : (j < K)%nat) by lia.
  assert (Hi' : (i' < K)%nat) by lia. assert (Hj' : (j' < K)%nat) by lia.
  destruct (Req_dec (dot K y y) 0) as [Z|Z].
  - pose proof (dot_self_zero K y Z) as Y. rewrite (Y i Hi), (Y j Hj) in D |- *.
    rewrite (Y i' Hi'), (Y j' Hj') in D' |- *.
    assert (E : forall q, 0 < q + (0 - 0) ^ 2 -> q / (q + (0 - 0) ^ 2) = 1) by (intros; field; lra). now rewrite !E.
  - destruct (foot K y x) as [m M]. set (e := combination x y 1 (- m)).
    assert (E : dot K e e = 0).
    { assert (Q : dot K e e = dot K x x - m * dot K x y).
      { unfold e at 2. rewrite dot_combination, !(dot_comm K e). unfold e.
        rewrite !dot_combination, M, (dot_comm K x y). nra. }
      rewrite Q. unfold gram in G. rewrite (dot_comm K x y) in *. rewrite M in *.
      apply Rmult_eq_reg_r with (dot K y y); [|assumption]. nra. }
    assert (X : forall k, (k < K)%nat -> x k = m * y k).
    { intros k Hk. pose proof (dot_self_zero K e E k Hk) as X. unfold e, combination in X. lra. }
    rewrite (X i Hi), (X j Hj) in D |- *. rewrite (X i' Hi'), (X j' Hj') in D' |- *.
    assert (S : forall p q, 0 < (m * p - m * q) ^ 2 + (p - q) ^ 2 ->
      (m * p - m * q) ^ 2 / ((m * p - m * q) ^ 2 + (p - q) ^ 2) = m ^ 2 / (m ^ 2 + 1)).
    { intros p q H. pose proof (pow2_ge_0 m).
      replace ((m * p - m * q) ^ 2) with (m ^ 2 * (p - q) ^ 2) in * by ring.
      replace (m ^ 2 * (p - q) ^ 2 + (p - q) ^ 2) with ((m ^ 2 + 1) * (p - q) ^ 2) in * by ring.
      field. split; [lra|]. intros W. rewrite W in H. lra. }
    now rewrite !S.
Qed.

(* The other way: if all pair balances are equal, the pool lies on a line. The quadratic part of the constraint would
   vanish, and off a line it has two eigenvalues. *)
Theorem one_balance_is_a_line : forall K a f t,
  (forall i j, pool_pair K a f i j -> pair_balance a f i j = t) ->
  gram K (centred K a) (centred K f) = 0.
Proof.
  intros K a f t H.
  assert (Pairs : forall i j, (i < j < K)%nat -> (1 - t) * (a i - a j) ^ 2 - t * (f i - f j) ^ 2 = 0).
  { intros i j L. rewrite pair_part.
    destruct (distance_nonneg a f i j) as [D|D]; [rewrite (H i j (conj L D)); ring|rewrite <- D; ring]. }
  (* a score that is the same for all systems is zero once it is centred *)
  assert (Const : forall x y, (forall i j, (i < j < K)%nat -> x i - x j = 0) ->
    gram K (centred K x) y = 0 /\ gram K y (centred K x) = 0).
  { intros x y C. assert (Z : forall k, (k < K)%nat -> centred K x k = 0).
    { intros k Hk. unfold centred. assert (E : sum K x = INR K * x k).
      { rewrite <- sum_const. apply sum_ext. intros j Hj.
        destruct (Nat.lt_trichotomy j k) as [L|[->|L]]; [|reflexivity|].
        - pose proof (C j k ltac:(lia)). lra.
        - pose proof (C k j ltac:(lia)). lra. }
      rewrite E. field. apply not_0_INR. lia. }
    assert (Z1 : forall z, dot K (centred K x) z = 0) by (intros z; apply sum_zero; intros k Hk; rewrite (Z k Hk);
      ring).
    unfold gram. rewrite (dot_comm K y (centred K x)), !Z1. split; ring. }
  destruct (find_pair K (fun i j => 0 < distance a f i j)) as [(i & j & L & D)|N]; [intros; apply Rlt_dec| |].
  - assert (T : 0 <= t <= 1).
    { rewrite <- (H i j (conj L D)). unfold pair_balance. pose proof (pow2_ge_0 (a i - a j)).
      pose proof (pow2_ge_0 (f i - f j)). split.
      - apply Rmult_le_pos; [assumption|]. now apply Rlt_le, Rinv_0_lt_compat.
      - apply Rmult_le_reg_r with (distance a f i j); [assumption|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra.
        unfold distance. lra. }
    destruct (Req_dec t 0) as [->|T0]; [apply (Const a (centred K f)); intros p q Hpq; apply square_zero;
      pose proof (Pairs p q Hpq); lra|].
    destruct (Req_dec t 1) as [->|T1]; [apply (Const f (centred K a)); intros p q Hpq; apply square_zero;
      pose proof (Pairs p q Hpq); lra|].
    assert (0 <= gram K (centred K a) (centred K f)) as [G|G]; [|exfalso|now symmetry].
    { pose proof (cauchy_schwarz K (centred K a) (centred K f)). unfold gram. lra. }
    destruct (eigenvalue_signs K a f t ltac:(lra) G) as (th1 & th2 & v1 & v2 & S & B).
    pose proof B as (S1 & _ & U1 & _ & O & _).
    assert (HK : (0 < K)%nat) by lia. pose proof (uniform_weighting K HK) as UW.
    assert (Zero : forall w, sum K w = 1 -> b K a f t w = 0).
    { intros w W. rewrite constraint_over_pairs by assumption. apply sum_zero. intros q Hq. apply sum_zero. intros p Hp.
      rewrite Pairs by lia. ring. }
    assert (Flat : forall s, s * dot K (gradient K a f t (uniform K)) v1 + s ^ 2 * form K a f t v1 = 0).
    { intros s. assert (De : forall z, dot K z (fun k => s * v1 k) = s * dot K z v1) by (intros; apply dot_scaled).
      pose proof (constraint_expansion K a f t (uniform K) (fun k => s * v1 k)) as X. rewrite !Zero in X; [|apply UW|].
      - unfold form in *. rewrite !De in X. lra.
      - unfold shifted. rewrite sum_plus, sum_scale, (proj2 UW), S1. ring. }
    pose proof (Flat 1). pose proof (Flat (-1)).
    pose proof (form_eigen K a f t th1 th2 v1 v2 v1 B S1) as F. rewrite (dot_comm K v2 v1), U1, O in F. lra.
  - apply (Const a (centred K f)). intros i j L. specialize (N i j L).
    pose proof (distance_nonneg a f i j) as [D|D]; [contradiction|].
    symmetry in D. now apply squares_zero in D as [D _].
Qed.

(* thm-a-five: a support that can reach the target has at most five stationary points. *)
Theorem five_candidates : forall K a f t w0 l,
  reaches K a f t w0 -> (forall k, (k < K)%nat -> 0 < w0 k) ->
  (forall w, In w l -> candidate K a f t w) -> NoDup (map (weights K) l) ->
  (length l <= 5)%nat.
Proof.
  intros K a f t w0 l R P C N. pose proof (reaches_some K a f t w0 R) as HK.
  destruct (admissible K a f t w0 R) as [[(i & j & (S & _) & Lo) (i' & j' & (S' & _) & Hi)]|Line].
  - assert (Pb : forall i j, pool_pair K a f i j -> 0 <= pair_balance a f i j <= 1).
    { intros p q [_ D]. unfold pair_balance. pose proof (pow2_ge_0 (a p - a q)). pose proof (pow2_ge_0 (f p - f q)).
      split.
      - apply Rmult_le_pos; [assumption|]. now apply Rlt_le, Rinv_0_lt_compat.
      - apply Rmult_le_reg_r with (distance a f p q); [assumption|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra.
        unfold distance. lra. }
    apply (five_off_a_line K a f t l); try assumption.
    + pose proof (Pb i j S). pose proof (Pb i' j' S'). lra.
    + assert (0 <= gram K (centred K a) (centred K f)) as [|Z]; [|assumption|].
      * pose proof (cauchy_schwarz K (centred K a) (centred K f)). unfold gram. lra.
      * pose proof (line_has_one_balance K a f (eq_sym Z) i j i' j' S S'). lra.
  - assert (Zero : forall w, sum K w = 1 -> b K a f t w = 0).
    { intros w W. rewrite constraint_over_pairs by assumption. apply sum_zero. intros j Hj. apply sum_zero. intros i Hi.
      rewrite pair_part. destruct (distance_nonneg a f i j) as [D|D]; [|rewrite <- D; ring].
      rewrite (Line i j); [ring|]. repeat split; try assumption; apply P; lia. }
    enough (length l <= 1)%nat by lia. apply (at_most_one (weights K)); [|assumption].
    enough (U : forall w, In w l -> weights K w = weights K (uniform K)) by (intros x y Ix Iy;
      now rewrite (U x), (U y)).
    intros w I. destruct (C w I) as (W & _ & eta & lam & Q). apply weights_equal.
    pose proof (uniform_weighting K HK) as UW. set (d := fun k => uniform K k - w k).
    assert (Sd : sum K d = 0).
    { unfold d. rewrite (sum_ext K _ (fun k => uniform K k + -1 * w k)) by (intros; ring).
      rewrite sum_plus, sum_scale, W, (proj2 UW). ring. }
    assert (Flat : forall s, s * dot K (gradient K a f t w) d + s ^ 2 * form K a f t d = 0).
    { intros s. set (e := fun k => s * d k).
      assert (De : forall z, dot K z e = s * dot K z d) by (intros; apply dot_scaled).
      pose proof (constraint_expansion K a f t w e) as X. rewrite !Zero in X; [|assumption|].
      - unfold form in *. rewrite !De in X. lra.
      - unfold shifted, e. rewrite sum_plus, sum_scale, W, Sd. ring. }
    assert (G0 : dot K (gradient K a f t w) d = 0) by (pose proof (Flat 1); pose proof (Flat (-1)); lra).
    assert (Wd : dot K w d = 0).
    { assert (E : (Σ k < K, (w k + eta * gradient K a f t w k + lam) * d k)
        = dot K w d + eta * dot K (gradient K a f t w) d + lam * sum K d).
      { unfold dot. generalize (gradient K a f t w) d. intros y z. termwise K. }
      rewrite (sum_zero K (fun k => (w k + _ + _) * d k)) in E by (intros k Hk; rewrite (Q k Hk); ring).
      rewrite G0, Sd in E. lra. }
    assert (Dd : dot K d d = 0).
    { assert (E : dot K d d = dot K d (uniform K) - dot K w d).
      { unfold dot, d. generalize (uniform K). intros y. termwise K. }
      rewrite E, Wd, dot_uniform by assumption. ring. }
    intros k Hk. pose proof (dot_self_zero K d Dd k Hk) as X. unfold d in X. lra.
Qed.
