(* Two eigenvalues of opposite sign (thm-a-signs), and (iii) as an interval between the poles (lem-a-matrix). *)
From Formal Require Export Certificate.

(* Orthonormal zero-sum directions in which the quadratic part of the constraint is a sum of two squares. *)
Definition eigenbasis K a f t theta1 theta2 v1 v2 :=
  sum K v1 = 0 /\ sum K v2 = 0 /\
  dot K v1 v1 = 1 /\ dot K v2 v2 = 1 /\ dot K v1 v2 = 0 /\
  forall d e, sum K d = 0 -> sum K e = 0 ->
    t * dot K f d * dot K f e - (1 - t) * dot K a d * dot K a e
    = theta1 * dot K v1 d * dot K v1 e + theta2 * dot K v2 d * dot K v2 e.

(* Of two numbers per direction: the mixed term can be turned away. *)
Lemma rotate m11 m12 m22 : exists c s, c ^ 2 + s ^ 2 = 1 /\ (c ^ 2 - s ^ 2) * m12 + c * s * (m22 - m11) = 0.
Proof.
  destruct (Req_dec m12 0) as [->|N]; [exists 1, 0; split; ring|].
  set (q := sqrt ((m11 - m22) ^ 2 + 4 * m12 ^ 2)).
  assert (Q : q ^ 2 = (m11 - m22) ^ 2 + 4 * m12 ^ 2).
  { unfold q. rewrite <- Rsqr_pow2. apply Rsqr_sqrt. pose proof (pow2_ge_0 (m11 - m22)). pose proof (pow2_ge_0 m12).
    lra. }
  set (p := (m22 - m11 + q) / 2).
  assert (P : p ^ 2 = m12 ^ 2 + p * (m22 - m11)) by (unfold p; nra).
  set (n := sqrt (m12 ^ 2 + p ^ 2)).
  assert (M : 0 < m12 ^ 2) by (apply square_positive; assumption). pose proof (pow2_ge_0 p).
  assert (Hn : 0 < n) by (apply sqrt_lt_R0; lra).
  assert (Nn : n ^ 2 = m12 ^ 2 + p ^ 2) by (unfold n; rewrite <- Rsqr_pow2; apply Rsqr_sqrt; lra).
  exists (m12 / n), (p / n). split.
  - replace ((m12 / n) ^ 2 + (p / n) ^ 2) with ((m12 ^ 2 + p ^ 2) / n ^ 2) by (field; lra). rewrite Nn. field. lra.
  - replace (((m12 / n) ^ 2 - (p / n) ^ 2) * m12 + m12 / n * (p / n) * (m22 - m11))
      with (m12 * (m12 ^ 2 + p * (m22 - m11) - p ^ 2) / n ^ 2) by (field; lra).
    rewrite <- P. field. lra.
Qed.

Definition gram K x y := dot K x x * dot K y y - dot K x y ^ 2.

Lemma unit_vector K x : 0 < dot K x x ->
  exists n u, 0 < n /\ n ^ 2 = dot K x x /\ dot K u u = 1 /\ forall k, x k = n * u k.
Proof.
  intros P. set (n := sqrt (dot K x x)). assert (N : 0 < n) by now apply sqrt_lt_R0.
  assert (Q : n ^ 2 = dot K x x) by (unfold n; rewrite <- Rsqr_pow2; apply Rsqr_sqrt; lra).
  exists n, (fun k => / n * x k). repeat split; try assumption.
  - rewrite dot_scaled, dot_comm, dot_scaled, <- Q. field. lra.
  - intros. field. lra.
Qed.

Lemma dot_ext K x x' y : (forall k, (k < K)%nat -> x k = x' k) -> dot K x y = dot K x' y.
Proof. intros H. apply sum_ext. intros k Hk. now rewrite H. Qed.

(* Two independent vectors lie in a plane with an orthonormal basis. *)
Lemma plane_basis K x y : 0 < gram K x y -> exists q1 q2 p1 p2 n,
  dot K q1 q1 = 1 /\ dot K q2 q2 = 1 /\ dot K q1 q2 = 0 /\ 0 < n /\ 0 < p1 /\
  (forall k, y k = p1 * q1 k) /\ (forall k, x k = p2 * q1 k + n * q2 k) /\ exists c c', (forall k, q1 k = c * y k) /\
  (forall k, q2 k = c' * (x k - p2 * q1 k)).
Proof.
  intros G. unfold gram in G. assert (Y : 0 < dot K y y).
  { destruct (dot_self K y) as [|Z]; [assumption|]. rewrite <- Z in G. pose proof (pow2_ge_0 (dot K x y)). lra. }
  destruct (unit_vector K y Y) as (p1 & q1 & P1 & N1 & U1 & E1).
  set (p2 := dot K x q1). set (z := combination x q1 1 (- p2)).
  assert (XY : dot K x y = p1 * p2) by (unfold p2; rewrite <- dot_scaled; apply sum_ext; intros k _; now rewrite E1).
  assert (Zq : dot K q1 z = 0) by (unfold z; rewrite dot_combination, U1, (dot_comm K q1 x); fold p2; ring).
  assert (Zz : dot K z z = dot K x x - p2 ^ 2).
  { unfold z at 2. rewrite dot_combination, (dot_comm K z q1), Zq, dot_comm. unfold z. rewrite dot_combination.
    fold p2. ring. }
  assert (Zp : 0 < dot K z z).
  { rewrite Zz. rewrite XY, <- N1 in G. apply Rmult_lt_reg_l with (p1 ^ 2); [nra|]. lra. }
  destruct (unit_vector K z Zp) as (n & q2 & Pn & Nn & U2 & E2).
  exists q1, q2, p1, p2, n. repeat split; try assumption.
  - apply Rmult_eq_reg_l with n; [|lra]. rewrite <- dot_scaled, Rmult_0_r, <- Zq. apply sum_ext. intros k _.
    now rewrite E2.
  - intros k. rewrite <- E2. unfold z, combination. ring.
  - exists (/ p1), (/ n). split; intros k.
    + rewrite E1. field. lra.
    + apply Rmult_eq_reg_l with n; [|lra]. rewrite <- E2. unfold z, combination. field. lra.
Qed.

Lemma opposite_signs x y : x * y < 0 -> y < 0 < x \/ x < 0 < y.
Proof. intros H. destruct (Rtotal_order x 0) as [|[->|]]; [right|lra|left]; nra. Qed.

(* thm-a-signs: unless the pool lies on a line, exactly two eigenvalues are not zero, one positive and one negative. *)
Theorem eigenvalue_signs : forall K a f t,
  0 < t < 1 -> 0 < gram K (centred K a) (centred K f) ->
  exists theta1 theta2 v1 v2,
    theta2 < 0 < theta1 /\ eigenbasis K a f t theta1 theta2 v1 v2.
Proof.
  intros K a f t T G.
  destruct (plane_basis K _ _ G) as (q1 & q2 & p1 & p2 & n & U1 & U2 & O & Pn & P1 & Ey & Ex & c1 & c2 & Eq1 & Eq2).
  assert (S1 : sum K q1 = 0).
  { rewrite (sum_ext K _ (fun k => c1 * centred K f k)) by (intros; apply Eq1). rewrite sum_scale, sum_centred. ring. }
  assert (S2 : sum K q2 = 0).
  { rewrite (sum_ext K _ (fun k => c2 * (centred K a k + - p2 * q1 k))) by (intros; rewrite Eq2; ring).
    rewrite sum_scale, sum_plus, sum_scale, sum_centred, S1. ring. }
  destruct (rotate (t * p1 ^ 2 - (1 - t) * p2 ^ 2) (- (1 - t) * (p2 * n)) (- (1 - t) * n ^ 2)) as (c & s & N & M).
  set (w1 := combination q1 q2 c s). set (w2 := combination q1 q2 (- s) c).
  set (al1 := p2 * c + n * s). set (al2 := - p2 * s + n * c). set (ga1 := p1 * c). set (ga2 := - p1 * s).
  assert (W : sum K w1 = 0 /\ sum K w2 = 0 /\ dot K w1 w1 = 1 /\ dot K w2 w2 = 1 /\ dot K w1 w2 = 0).
  { unfold w1, w2. rewrite !sum_combination, S1, S2, !dot_combination.
    rewrite !(dot_comm K (combination q1 q2 _ _)), !dot_combination, (dot_comm K q2 q1), O, U1, U2. repeat split; nra. }
  assert (DA : forall d, sum K d = 0 -> dot K a d = al1 * dot K w1 d + al2 * dot K w2 d).
  { intros d D. rewrite <- dot_centred by assumption. unfold w1, w2.
    rewrite !(dot_comm K (combination q1 q2 _ _)), !dot_combination.
    rewrite (dot_ext K (centred K a) (combination q1 q2 p2 n)) by (intros; apply Ex).
    rewrite (dot_comm K (combination q1 q2 p2 n)), dot_combination. unfold al1, al2.
    replace (p2 * dot K d q1 + n * dot K d q2) with ((c ^ 2 + s ^ 2) * (p2 * dot K d q1 + n * dot K d q2))
      by (rewrite N; ring). ring. }
  assert (DF : forall d, sum K d = 0 -> dot K f d = ga1 * dot K w1 d + ga2 * dot K w2 d).
  { intros d D. rewrite <- dot_centred by assumption. unfold w1, w2.
    rewrite !(dot_comm K (combination q1 q2 _ _)), !dot_combination.
    rewrite (dot_ext K (centred K f) (combination q1 q2 p1 0)) by (intros; unfold combination; rewrite Ey; ring).
    rewrite (dot_comm K (combination q1 q2 p1 0)), dot_combination. unfold ga1, ga2.
    replace (p1 * dot K d q1 + 0 * dot K d q2) with ((c ^ 2 + s ^ 2) * (p1 * dot K d q1)) by (rewrite N; ring). ring. }
  assert (Mixed : t * ga1 * ga2 - (1 - t) * al1 * al2 = 0).
  { rewrite <- M. unfold al1, al2, ga1, ga2. ring. }
  set (th1 := t * ga1 ^ 2 - (1 - t) * al1 ^ 2). set (th2 := t * ga2 ^ 2 - (1 - t) * al2 ^ 2).
  assert (B : eigenbasis K a f t th1 th2 w1 w2).
  { destruct W as (A1 & A2 & A3 & A4 & A5). repeat split; try assumption. intros d e D E.
    rewrite !DA, !DF by assumption.
    unfold th1, th2.
    match goal with |- ?l = ?r => enough (l = r + (t * ga1 * ga2 - (1 - t) * al1 * al2)
       * (dot K w1 d * dot K w2 e + dot K w2 d * dot K w1 e)) as -> by (rewrite Mixed; ring) end. ring. }
  assert (Product : th1 * th2 = - (t * (1 - t) * (n * p1) ^ 2)).
  { assert (C : ga1 * al2 - al1 * ga2 = n * p1).
    { replace (n * p1) with (n * p1 * (c ^ 2 + s ^ 2)) by (rewrite N; ring). unfold al1, al2, ga1, ga2. ring. }
    rewrite <- C. unfold th1, th2.
    match goal with |- ?l = ?r => enough (l = r + (t * ga1 * ga2 - (1 - t) * al1 * al2) ^ 2) as -> by (rewrite Mixed;
      ring) end. ring. }
  assert (Neg : th1 * th2 < 0).
  { rewrite Product. assert (0 < n * p1) by now apply Rmult_lt_0_compat. assert (0 < t * (1 - t)) by nra.
    assert (0 < (n * p1) ^ 2) by (apply square_positive; lra). nra. }
  destruct (opposite_signs th1 th2 Neg) as [H|H].
  - exists th1, th2, w1, w2. now split.
  - exists th2, th1, w2, w1. split; [assumption|]. destruct B as (A1 & A2 & A3 & A4 & A5 & A6).
    repeat split; try assumption.
    + rewrite dot_comm. assumption.
    + intros d e D E. rewrite A6 by assumption. ring.
Qed.

Lemma form_eigen K a f t theta1 theta2 v1 v2 d : eigenbasis K a f t theta1 theta2 v1 v2 -> sum K d = 0 ->
  form K a f t d = theta1 * dot K v1 d ^ 2 + theta2 * dot K v2 d ^ 2.
Proof. intros (_ & _ & _ & _ & _ & E) D. specialize (E d d D D). unfold form. lra. Qed.

Lemma bessel K v1 v2 d : dot K v1 v1 = 1 -> dot K v2 v2 = 1 -> dot K v1 v2 = 0 ->
  dot K v1 d ^ 2 + dot K v2 d ^ 2 <= dot K d d.
Proof.
  intros U1 U2 O. set (x := dot K v1 d). set (y := dot K v2 d).
  set (e := combination d (combination v1 v2 x y) 1 (-1)).
  assert (E : 0 <= dot K e e) by apply dot_self.
  assert (C : forall z, dot K z e = dot K z d - x * dot K z v1 - y * dot K z v2).
  { intros z. unfold e. rewrite !dot_combination. ring. }
  rewrite (C e), !(dot_comm K e), !C, (dot_comm K v2 v1), U1, U2, O in E.
  rewrite (dot_comm K d v1), (dot_comm K d v2) in E. fold x y in E. lra.
Qed.

(* lem-a-matrix: (iii) says that the multiplier lies between the poles. *)
Theorem between_the_poles : forall K a f t eta theta1 theta2 v1 v2,
  theta2 < 0 < theta1 -> eigenbasis K a f t theta1 theta2 v1 v2 ->
  (convex_on_plane K a f t eta
   <-> - 1 / (2 * theta1) <= eta <= - 1 / (2 * theta2)).
Proof.
  intros K a f t eta th1 th2 v1 v2 S B. pose proof B as (S1 & S2 & U1 & U2 & O & _).
  assert (P : (- 1 / (2 * th1) <= eta <= - 1 / (2 * th2)) <-> (0 <= 1 + 2 * eta * th1 /\ 0 <= 1 + 2 * eta * th2)).
  { assert (E1 : 1 + 2 * eta * th1 = 2 * th1 * (eta - - 1 / (2 * th1))) by (field; lra).
    assert (E2 : 1 + 2 * eta * th2 = - 2 * th2 * (- 1 / (2 * th2) - eta)) by (field; lra).
    rewrite E1, E2. split; intros [L1 L2]; (split; [|]); try (apply Rmult_le_pos; lra).
    - apply Rmult_le_reg_l with (2 * th1); lra.
    - apply Rmult_le_reg_l with (- 2 * th2); lra. }
  rewrite P. clear P. split.
  - intros C. split.
    + specialize (C v1 S1). rewrite (form_eigen K a f t th1 th2 v1 v2 v1 B S1), (dot_comm K v2 v1), U1, O in C. lra.
    + specialize (C v2 S2). rewrite (form_eigen K a f t th1 th2 v1 v2 v2 B S2), U2, O in C. lra.
  - intros [P1 P2] d D. rewrite (form_eigen K a f t th1 th2 v1 v2 d B D).
    pose proof (bessel K v1 v2 d U1 U2 O). pose proof (pow2_ge_0 (dot K v1 d)). pose proof (pow2_ge_0 (dot K v2 d)).
    assert (0 <= (1 + 2 * eta * th1) * dot K v1 d ^ 2) by (apply Rmult_le_pos; lra).
    assert (0 <= (1 + 2 * eta * th2) * dot K v2 d ^ 2) by (apply Rmult_le_pos; lra). lra.
Qed.
