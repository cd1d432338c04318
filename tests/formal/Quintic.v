(* One support, in the eigenbasis: the secular equation, the quintic and its coefficients, the poles, the root between
   them, and at most five candidates. Coordinates of a stationary point are x1, x2 and, in the flat directions, −η
   times the flat part of r, whose length is rho (so R = rho²). *)
Require Import Ranalysis.
From Formal Require Export Roots.

Section Secular.
Variables theta1 theta2 r1 r2 rho c : R.

Definition D theta eta := 1 + 2 * eta * theta.

(* A stationary point: two lines of (I + 2ηM)u = −ηr, the others are solved, and the constraint. *)
Definition stationary eta x1 x2 :=
  x1 * D theta1 eta = - eta * r1 /\ x2 * D theta2 eta = - eta * r2 /\
  theta1 * x1 ^ 2 + r1 * x1 + (theta2 * x2 ^ 2 + r2 * x2)
  - eta * rho ^ 2 + c = 0.

Definition s eta :=
  c - eta * (r1 ^ 2 * (1 + eta * theta1) / D theta1 eta ^ 2
             + r2 ^ 2 * (1 + eta * theta2) / D theta2 eta ^ 2 + rho ^ 2).
Definition level := c - r1 ^ 2 / (4 * theta1) - r2 ^ 2 / (4 * theta2).

(* Φ, from the constant to η⁵ *)
Definition Phi := let R := rho ^ 2 in let t1 := theta1 in let t2 := theta2 in
  [ c;
    - R + 4 * c * t1 + 4 * c * t2 - r1 ^ 2 - r2 ^ 2;
    - 4 * R * t1 - 4 * R * t2 + 4 * c * t1 ^ 2 + 16 * c * t1 * t2 + 4 * c * t2 ^ 2
      - r1 ^ 2 * t1 - 4 * r1 ^ 2 * t2 - 4 * r2 ^ 2 * t1 - r2 ^ 2 * t2;
    - 4 * R * t1 ^ 2 - 16 * R * t1 * t2 - 4 * R * t2 ^ 2 + 16 * c * t1 ^ 2 * t2 + 16 * c * t1 * t2 ^ 2
      - 4 * r1 ^ 2 * t1 * t2 - 4 * r1 ^ 2 * t2 ^ 2 - 4 * r2 ^ 2 * t1 ^ 2 - 4 * r2 ^ 2 * t1 * t2;
    - 16 * R * t1 ^ 2 * t2 - 16 * R * t1 * t2 ^ 2
      + 16 * c * t1 ^ 2 * t2 ^ 2 - 4 * r1 ^ 2 * t1 * t2 ^ 2 - 4 * r2 ^ 2 * t1 ^ 2 * t2;
    - 16 * t1 ^ 2 * t2 ^ 2 * R ].

(* thm-a-secular: off the poles a point is stationary exactly if s vanishes, and it is the only one with its
   multiplier; *)
Theorem secular_equation : forall eta,
  D theta1 eta <> 0 -> D theta2 eta <> 0 -> forall x1 x2,
  stationary eta x1 x2
  <-> x1 = - eta * r1 / D theta1 eta /\ x2 = - eta * r2 / D theta2 eta
      /\ s eta = 0.
Proof.
  intros eta N1 N2 x1 x2.
  assert (E : forall y1 y2, y1 = - eta * r1 / D theta1 eta -> y2 = - eta * r2 / D theta2 eta ->
    s eta = theta1 * y1 ^ 2 + r1 * y1 + (theta2 * y2 ^ 2 + r2 * y2) - eta * rho ^ 2 + c).
  { intros y1 y2 -> ->. unfold s, D in *. field. split; assumption. }
  unfold stationary. split.
  - intros (H1 & H2 & H3).
    assert (X1 : x1 = - eta * r1 / D theta1 eta) by (rewrite <- H1; field; assumption).
    assert (X2 : x2 = - eta * r2 / D theta2 eta) by (rewrite <- H2; field; assumption).
    repeat split; try assumption. now rewrite (E x1 x2).
  - intros (X1 & X2 & Z). rewrite (E x1 x2) in Z by assumption.
    repeat split; [rewrite X1|rewrite X2|assumption]; field; assumption.
Qed.

(* its second form, with the two spikes; *)
Theorem secular_spikes : forall eta,
  theta1 <> 0 -> theta2 <> 0 -> D theta1 eta <> 0 -> D theta2 eta <> 0 ->
  s eta
  = level + r1 ^ 2 / (4 * theta1 * D theta1 eta ^ 2)
    + r2 ^ 2 / (4 * theta2 * D theta2 eta ^ 2) - eta * rho ^ 2.
Proof. intros. unfold s, level, D in *. field. repeat split; assumption. Qed.

(* and multiplied by D₁²D₂² it is the polynomial Φ, with Φ(0) = c. *)
Theorem secular_polynomial : forall eta,
  D theta1 eta <> 0 -> D theta2 eta <> 0 ->
  s eta * (D theta1 eta ^ 2 * D theta2 eta ^ 2) = value Phi eta.
Proof. intros. unfold s, Phi, D in *. cbn [value]. field. split; assumption. Qed.

(* thm-a-degree: at most five, with this leading coefficient; *)
Theorem degree_five :
  length Phi = 6%nat
  /\ nth 5 Phi 0 = - 16 * theta1 ^ 2 * theta2 ^ 2 * rho ^ 2.
Proof. split; reflexivity. Qed.

(* without a flat part at most four, with this one; *)
Theorem degree_four : theta1 <> 0 -> theta2 <> 0 -> rho = 0 ->
  nth 5 Phi 0 = 0 /\ nth 4 Phi 0 = 16 * theta1 ^ 2 * theta2 ^ 2 * level.
Proof. intros N1 N2 Z. unfold level, Phi. cbv zeta. cbn [nth]. rewrite Z. split; [ring|field; split; assumption]. Qed.

(* and at most two if the level vanishes as well. *)
Theorem degree_two : theta1 <> 0 -> theta2 <> 0 -> rho = 0 -> level = 0 ->
  nth 5 Phi 0 = 0 /\ nth 4 Phi 0 = 0 /\ nth 3 Phi 0 = 0.
Proof.
  intros N1 N2 Z L. assert (C : c = r1 ^ 2 / (4 * theta1) + r2 ^ 2 / (4 * theta2)) by (unfold level in L; lra).
  unfold Phi. cbv zeta. cbn [nth]. rewrite C, Z. repeat split; field; split; assumption.
Qed.

(* lem-a-poles (1): Φ at a pole. *)
Theorem at_the_pole : theta1 <> 0 -> let pole := - 1 / (2 * theta1) in
  value Phi pole = - (1 / 2) * pole * r1 ^ 2 * (1 - theta2 / theta1) ^ 2.
Proof. intros N pole. unfold pole, Phi. cbn [value]. field. assumption. Qed.

(* lem-a-poles (2): where r1 = 0, the pole is a root of multiplicity two at least. *)
Definition Psi :=
  [ c;
    - rho ^ 2 + 4 * c * theta2 - r2 ^ 2;
    - 4 * rho ^ 2 * theta2 + 4 * c * theta2 ^ 2 - r2 ^ 2 * theta2;
    - 4 * rho ^ 2 * theta2 ^ 2 ].

Theorem double_root : r1 = 0 ->
  forall eta, value Phi eta = D theta1 eta ^ 2 * value Psi eta.
Proof. intros Z eta. unfold Phi, Psi, D. cbn [value]. rewrite Z. ring. Qed.
End Secular.

(* From here on a candidate is a triple of its multiplier and two coordinates; what tells points apart is x1, x2 and η
   rho. *)
Definition eta_of (x : R * R * R) := fst (fst x).
Definition x1_of (x : R * R * R) := snd (fst x).
Definition x2_of (x : R * R * R) := snd x.
Definition point rho x := (x1_of x, x2_of x, eta_of x * rho).
Definition is_stationary theta1 theta2 r1 r2 rho c x :=
  stationary theta1 theta2 r1 r2 rho c (eta_of x) (x1_of x) (x2_of x).

Lemma pole_is theta eta : theta <> 0 -> D theta eta = 0 -> eta = - 1 / (2 * theta).
Proof. intros N H. unfold D in H. apply Rmult_eq_reg_l with (2 * theta); [|lra]. field_simplify; [lra|assumption]. Qed.

Lemma poles_differ theta1 theta2 eta : theta1 <> theta2 -> D theta1 eta = 0 -> D theta2 eta <> 0.
Proof. intros N H1 H2. unfold D in *. assert (eta * (theta1 - theta2) = 0) by lra. apply Rmult_integral in H.
destruct H; [subst; lra|lra]. Qed.

(* lem-a-poles (3): nothing is stationary at a pole with r ≠ 0, *)
Lemma off_the_pole theta1 theta2 r1 r2 rho c eta x1 x2 : r1 <> 0 -> stationary theta1 theta2 r1 r2 rho c eta x1 x2 ->
  D theta1 eta <> 0.
Proof.
  intros N (H & _) Z. rewrite Z, Rmult_0_r in H. symmetry in H. apply Rmult_integral in H as [H|H]; [|contradiction].
  assert (eta = 0) as -> by lra. unfold D in Z. lra.
Qed.

(* and at most two points are where r = 0. *)
Theorem two_at_a_pole : forall theta1 theta2 r2 rho c l,
  theta1 <> 0 -> theta1 <> theta2 ->
  (forall x, In x l ->
    is_stationary theta1 theta2 0 r2 rho c x /\ D theta1 (eta_of x) = 0) ->
  NoDup (map (point rho) l) -> (length l <= 2)%nat.
Proof.
  intros th1 th2 r2 rho c l N1 N S U. set (pole := - 1 / (2 * th1)).
  assert (P : forall x, In x l -> eta_of x = pole /\ x2_of x = - pole * r2 / D th2 pole).
  { intros x I. destruct (S x I) as [(_ & H2 & _) Z]. pose proof (poles_differ th1 th2 _ N Z) as N2.
    pose proof (pole_is th1 _ N1 Z) as E. fold pole in E. rewrite E in H2, N2. split; [assumption|]. rewrite <- H2.
    field. assumption. }
  set (y := - pole * r2 / D th2 pole) in *.
  apply (at_most_two (point rho) x1_of ((- (th2 * y ^ 2 + r2 * y) + pole * rho ^ 2 - c) / th1) l); [| |assumption].
  - intros x I. destruct (P x I) as [E Y]. destruct (S x I) as [(_ & _ & H) _]. rewrite E, Y in H.
    apply Rmult_eq_reg_l with th1; [|assumption]. field_simplify; [lra|assumption].
  - intros x z Ix Iz E. destruct (P x Ix) as [A B]. destruct (P z Iz) as [A' B']. unfold point.
    now rewrite E, A, B, A', B'.
Qed.

Lemma off_poles_decided theta1 theta2 r1 r2 rho c x y :
  is_stationary theta1 theta2 r1 r2 rho c x -> is_stationary theta1 theta2 r1 r2 rho c y ->
  D theta1 (eta_of x) <> 0 -> D theta2 (eta_of x) <> 0 -> eta_of x = eta_of y -> point rho x = point rho y.
Proof.
  intros X Y N1 N2 E. apply secular_equation in X as (X1 & X2 & _); try assumption.
  unfold is_stationary in Y. rewrite <- E in Y. apply secular_equation in Y as (Y1 & Y2 & _); try assumption.
  unfold point. now rewrite X1, X2, Y1, Y2, E.
Qed.

Lemma stationary_root theta1 theta2 r1 r2 rho c x : is_stationary theta1 theta2 r1 r2 rho c x ->
  D theta1 (eta_of x) <> 0 -> D theta2 (eta_of x) <> 0 -> value (Phi theta1 theta2 r1 r2 rho c) (eta_of x) = 0.
Proof.
  intros S N1 N2. apply secular_equation in S as (_ & _ & Z); try assumption.
  rewrite <- secular_polynomial, Z by assumption. ring.
Qed.

(* At most five when no r vanishes: each candidate uses up a root of the quintic. *)
Lemma five_general theta1 theta2 r1 r2 rho c l : theta1 <> 0 -> theta2 <> 0 -> theta1 <> theta2 -> r1 <> 0 -> r2 <> 0 ->
  (forall x, In x l -> is_stationary theta1 theta2 r1 r2 rho c x) -> NoDup (map (point rho) l) -> (length l <= 5)%nat.
Proof.
  intros N1 N2 N R1 R2 S U.
  assert (O : forall x, In x l -> D theta1 (eta_of x) <> 0 /\ D theta2 (eta_of x) <> 0).
  { intros x I. specialize (S x I). split; [now apply (off_the_pole _ _ _ _ _ _ _ _ _ R1) in S|].
    apply (off_the_pole theta2 theta1 r2 r1 rho c (eta_of x) (x2_of x) (x1_of x) R2).
    destruct S as (A & B & C). repeat split; try assumption. lra. }
  rewrite <- (map_length eta_of).
  assert (length (map eta_of l) < length (Phi theta1 theta2 r1 r2 rho c))%nat; [|simpl in *; lia].
  apply (few_roots _ (- 1 / (2 * theta1))).
  - rewrite at_the_pole by assumption. assert (1 - theta2 / theta1 <> 0).
    { intros Z. apply N. apply Rmult_eq_reg_r with (/ theta1); [|now apply Rinv_neq_0_compat].
      rewrite Rinv_r by assumption. unfold Rdiv in Z. lra. }
    assert (- 1 / (2 * theta1) <> 0) by (apply Rmult_integral_contrapositive_currified; [lra|apply Rinv_neq_0_compat;
      lra]).
    repeat apply Rmult_integral_contrapositive_currified; try apply pow_nonzero; try assumption; lra.
  - apply (NoDup_decides _ (point rho)); [|assumption]. intros x y Ix Iy E.
    apply (off_poles_decided theta1 theta2 r1 r2 rho c); auto; now apply O.
  - intros e I. apply in_map_iff in I as (x & <- & I). apply stationary_root; auto; now apply O.
Qed.

(* Where r1 = 0: two at the pole, and three roots are left. *)
Lemma five_one_pole theta1 theta2 r2 rho c l : theta1 <> 0 -> theta2 <> 0 -> theta1 <> theta2 -> r2 <> 0 ->
  (forall x, In x l -> is_stationary theta1 theta2 0 r2 rho c x) -> NoDup (map (point rho) l) -> (length l <= 5)%nat.
Proof.
  intros N1 N2 N R2 S U. set (at_pole := fun x => if Req_EM_T (D theta1 (eta_of x)) 0 then true else false).
  rewrite (split_length at_pole l).
  assert (A : (length (filter at_pole l) <= 2)%nat).
  { apply (two_at_a_pole theta1 theta2 r2 rho c); auto; [|now apply NoDup_filter_map].
    intros x I. apply filter_In in I as [I P]. split; [auto|]. unfold at_pole in P.
    now destruct (Req_EM_T (D theta1 (eta_of x)) 0). }
  set (l' := filter (fun x => negb (at_pole x)) l).
  assert (O : forall x, In x l' ->
    is_stationary theta1 theta2 0 r2 rho c x /\ D theta1 (eta_of x) <> 0 /\ D theta2 (eta_of x) <> 0).
  { intros x I. apply filter_In in I as [I P]. specialize (S x I). split; [assumption|split].
    - unfold at_pole in P. now destruct (Req_EM_T (D theta1 (eta_of x)) 0).
    - apply (off_the_pole theta2 theta1 r2 0 rho c (eta_of x) (x2_of x) (x1_of x) R2).
      destruct S as (A1 & B & C). repeat split; try assumption. lra. }
  assert (B : (length l' <= 3)%nat); [|lia].
  rewrite <- (map_length eta_of).
  assert (length (map eta_of l') < length (Psi theta2 r2 rho c))%nat; [|simpl in *; lia].
  apply (few_roots _ (- 1 / (2 * theta2))).
  - assert (E : value (Psi theta2 r2 rho c) (- 1 / (2 * theta2)) = r2 ^ 2 / (4 * theta2)) by (unfold Psi; cbn [value];
      field; assumption).
    rewrite E. apply Rmult_integral_contrapositive_currified; [now apply pow_nonzero|apply Rinv_neq_0_compat; lra].
  - apply (NoDup_decides _ (point rho)); [|now apply NoDup_filter_map]. intros x y Ix Iy E.
    apply (off_poles_decided theta1 theta2 0 r2 rho c); auto; now apply O.
  - intros e I. apply in_map_iff in I as (x & <- & I). destruct (O x I) as (Sx & O1 & O2).
    pose proof (stationary_root _ _ _ _ _ _ _ Sx O1 O2) as Z. rewrite double_root in Z by reflexivity.
    apply Rmult_integral in Z as [Z|Z]; [|assumption]. exfalso. now apply (pow_nonzero _ 2) in O1.
Qed.

(* Where both vanish: two at each pole, and one more. *)
Lemma five_two_poles theta1 theta2 rho c l : theta1 <> 0 -> theta2 <> 0 -> theta1 <> theta2 ->
  (forall x, In x l -> is_stationary theta1 theta2 0 0 rho c x) -> NoDup (map (point rho) l) -> (length l <= 5)%nat.
Proof.
  intros N1 N2 N S U.
  set (at1 := fun x => if Req_EM_T (D theta1 (eta_of x)) 0 then true else false).
  set (at2 := fun x => if Req_EM_T (D theta2 (eta_of x)) 0 then true else false).
  rewrite (split_length at1 l), (split_length at2 (filter (fun x => negb (at1 x)) l)).
  assert (A : (length (filter at1 l) <= 2)%nat).
  { apply (two_at_a_pole theta1 theta2 0 rho c); auto; [|now apply NoDup_filter_map].
    intros x I. apply filter_In in I as [I P]. split; [auto|]. unfold at1 in P.
    now destruct (Req_EM_T (D theta1 (eta_of x)) 0). }
  set (l' := filter (fun x => negb (at1 x)) l) in *.
  assert (S' : forall x, In x l' -> is_stationary theta1 theta2 0 0 rho c x /\ D theta1 (eta_of x) <> 0).
  { intros x I. apply filter_In in I as [I P]. split; [auto|]. unfold at1 in P.
    now destruct (Req_EM_T (D theta1 (eta_of x)) 0). }
  assert (U' : NoDup (map (point rho) l')) by now apply NoDup_filter_map.
  assert (B : (length (filter at2 l') <= 2)%nat).
  { rewrite <- (map_length (fun x => (eta_of x, x2_of x, x1_of x))).
    apply (two_at_a_pole theta2 theta1 0 rho c); auto.
    - intros x I. apply in_map_iff in I as (y & <- & I). apply filter_In in I as [I P]. unfold at2 in P.
      destruct (Req_EM_T (D theta2 (eta_of y)) 0) as [Z|]; [|discriminate]. split; [|assumption].
      destruct (S' y I) as [(H1 & H2 & H3) _]. repeat split; try assumption. unfold eta_of, x1_of, x2_of in *. simpl.
      lra.
    - rewrite map_map. apply (NoDup_decides _ (point rho)); [|now apply NoDup_filter_map].
      intros x y _ _ E. unfold point, eta_of, x1_of, x2_of in *. simpl in E. inversion E. congruence. }
  assert (C : (length (filter (fun x => negb (at2 x)) l') <= 1)%nat); [|lia].
  apply (at_most_one (point rho)); [|now apply NoDup_filter_map].
  assert (P : forall x, In x (filter (fun x => negb (at2 x)) l') ->
    x1_of x = 0 /\ x2_of x = 0 /\ eta_of x * rho ^ 2 = c).
  { intros x I. apply filter_In in I as [I Q]. destruct (S' x I) as [(H1 & H2 & H3) O1]. unfold at2 in Q.
    destruct (Req_EM_T (D theta2 (eta_of x)) 0) as [|O2]; [discriminate|]. rewrite Rmult_0_r in H1, H2.
    apply Rmult_integral in H1 as [H1|]; [|contradiction]. apply Rmult_integral in H2 as [H2|]; [|contradiction].
    rewrite H1, H2 in *. repeat split; lra. }
  intros x y Ix Iy. destruct (P x Ix) as (X1 & X2 & X3). destruct (P y Iy) as (Y1 & Y2 & Y3).
  unfold point. rewrite X1, X2, Y1, Y2. f_equal.
  destruct (Req_dec rho 0) as [->|Z]; [ring|]. apply Rmult_eq_reg_r with rho; [|assumption]. lra.
Qed.

(* thm-a-five, in the eigenbasis. *)
Theorem at_most_five : forall theta1 theta2 r1 r2 rho c l,
  theta2 < 0 < theta1 ->
  (forall x, In x l -> is_stationary theta1 theta2 r1 r2 rho c x) ->
  NoDup (map (point rho) l) -> (length l <= 5)%nat.
Proof.
  intros th1 th2 r1 r2 rho c l T S U.
  assert (th1 <> 0 /\ th2 <> 0 /\ th1 <> th2 /\ th2 <> th1) as (N1 & N2 & N & N') by (repeat split; lra).
  destruct (Req_dec r1 0) as [->|R1], (Req_dec r2 0) as [->|R2].
  - now apply (five_two_poles th1 th2 rho c).
  - now apply (five_one_pole th1 th2 r2 rho c).
  - rewrite <- (map_length (fun x => (eta_of x, x2_of x, x1_of x))).
    apply (five_one_pole th2 th1 r1 rho c); try assumption.
    + intros x I. apply in_map_iff in I as (y & <- & I). destruct (S y I) as (H1 & H2 & H3).
      repeat split; try assumption. unfold eta_of, x1_of, x2_of in *. simpl. lra.
    + rewrite map_map. apply (NoDup_decides _ (point rho)); [|assumption].
      intros x y _ _ E. unfold point, eta_of, x1_of, x2_of in *. simpl in E. inversion E. congruence.
  - now apply (five_general th1 th2 r1 r2 rho c).
Qed.

(* thm-a-middle: between the poles the secular function falls, and crosses zero exactly once. *)
Lemma value_continuous p : continuity (value p).
Proof.
  induction p as [|c p IH]; [now apply continuity_const|].
  apply (continuity_plus (fun _ => c) (fun x => x * value p x)); [now apply continuity_const|].
  apply (continuity_mult (fun x => x) (value p)); [apply derivable_continuous, derivable_id|assumption].
Qed.

Lemma inverse_squares x y : 0 < x < y -> / y ^ 2 < / x ^ 2.
Proof. intros H. apply Rinv_lt_contravar; [apply Rmult_lt_0_compat; nra|nra]. Qed.

Lemma inside_poles theta1 theta2 eta : theta2 < 0 < theta1 -> - 1 / (2 * theta1) < eta < - 1 / (2 * theta2) ->
  0 < D theta1 eta /\ 0 < D theta2 eta.
Proof.
  intros T [L1 L2]. unfold D.
  assert (E1 : 1 + 2 * eta * theta1 = 2 * theta1 * (eta - - 1 / (2 * theta1))) by (field; lra).
  assert (E2 : 1 + 2 * eta * theta2 = - 2 * theta2 * (- 1 / (2 * theta2) - eta)) by (field; lra).
  rewrite E1, E2. split; apply Rmult_lt_0_compat; lra.
Qed.

Lemma s_falls theta1 theta2 r1 r2 rho c eta eta' : theta2 < 0 < theta1 -> r1 <> 0 ->
  - 1 / (2 * theta1) < eta -> eta < eta' -> eta' < - 1 / (2 * theta2) ->
  s theta1 theta2 r1 r2 rho c eta' < s theta1 theta2 r1 r2 rho c eta.
Proof.
  intros T R1 L1 L L2. destruct (inside_poles theta1 theta2 eta T) as [P1 P2]; [lra|].
  destruct (inside_poles theta1 theta2 eta' T) as [Q1 Q2]; [lra|].
  rewrite !secular_spikes by lra.
  assert (A : / D theta1 eta' ^ 2 < / D theta1 eta ^ 2) by (apply inverse_squares; unfold D in *; nra).
  assert (B : / D theta2 eta ^ 2 < / D theta2 eta' ^ 2) by (apply inverse_squares; unfold D in *; nra).
  replace (r1 ^ 2 / (4 * theta1 * D theta1 eta' ^ 2)) with (r1 ^ 2 * / (4 * theta1) * / D theta1 eta' ^ 2) by (field;
    lra).
  replace (r1 ^ 2 / (4 * theta1 * D theta1 eta ^ 2)) with (r1 ^ 2 * / (4 * theta1) * / D theta1 eta ^ 2) by (field;
    lra).
  replace (r2 ^ 2 / (4 * theta2 * D theta2 eta' ^ 2)) with (- (r2 ^ 2 * / (4 * - theta2) * / D theta2 eta' ^ 2))
    by (field; lra).
  replace (r2 ^ 2 / (4 * theta2 * D theta2 eta ^ 2)) with (- (r2 ^ 2 * / (4 * - theta2) * / D theta2 eta ^ 2))
    by (field; lra).
  assert (0 < r1 ^ 2 * / (4 * theta1)).
  { apply Rmult_lt_0_compat; [|apply Rinv_0_lt_compat; lra]. rewrite <- Rsqr_pow2. now apply Rsqr_pos_lt. }
  assert (0 <= r2 ^ 2 * / (4 * - theta2)).
  { apply Rmult_le_pos; [apply pow2_ge_0|]. apply Rlt_le, Rinv_0_lt_compat. lra. }
  pose proof (pow2_ge_0 rho). set (x := r1 ^ 2 * / (4 * theta1)) in *. set (y := r2 ^ 2 * / (4 * - theta2)) in *.
  assert (x * / D theta1 eta' ^ 2 < x * / D theta1 eta ^ 2) by now apply Rmult_lt_compat_l.
  assert (y * / D theta2 eta ^ 2 <= y * / D theta2 eta' ^ 2) by (apply Rmult_le_compat_l; lra).
  assert (eta * rho ^ 2 <= eta' * rho ^ 2) by (apply Rmult_le_compat_r; lra). lra.
Qed.

Theorem one_root_between : forall theta1 theta2 r1 r2 rho c,
  theta2 < 0 < theta1 -> r1 <> 0 -> r2 <> 0 ->
  exists! eta, - 1 / (2 * theta1) < eta < - 1 / (2 * theta2)
               /\ s theta1 theta2 r1 r2 rho c eta = 0.
Proof.
  intros th1 th2 r1 r2 rho c T R1 R2. set (p1 := - 1 / (2 * th1)). set (p2 := - 1 / (2 * th2)).
  set (phi := value (Phi th1 th2 r1 r2 rho c)).
  assert (I1 : 0 < / (2 * th1)) by (apply Rinv_0_lt_compat; lra).
  assert (I2 : 0 < / (- 2 * th2)) by (apply Rinv_0_lt_compat; lra).
  assert (P1 : p1 < 0) by (unfold p1, Rdiv; lra).
  assert (P2 : 0 < p2) by (unfold p2; replace (-1 / (2 * th2)) with (/ (- 2 * th2)) by (field; lra); assumption).
  assert (Q : forall x y, x <> 0 -> y <> 0 -> 0 < x ^ 2 * y ^ 2).
  { intros x y X Y. rewrite <- !Rsqr_pow2. apply Rmult_lt_0_compat; now apply Rsqr_pos_lt. }
  assert (V1 : 0 < phi p1).
  { unfold phi, p1. rewrite at_the_pole by lra. fold p1.
    assert (0 < r1 ^ 2 * (1 - th2 / th1) ^ 2).
    { apply Q; [assumption|]. replace (1 - th2 / th1) with ((th1 - th2) / th1) by (field; lra).
      apply Rmult_integral_contrapositive_currified; [lra|apply Rinv_neq_0_compat; lra]. }
    rewrite Rmult_assoc. nra. }
  assert (V2 : phi p2 < 0).
  { assert (E : phi p2 = - (1 / 2) * p2 * (r2 ^ 2 * (1 - th1 / th2) ^ 2)).
    { unfold phi, p2, Phi. cbn [value]. field. lra. }
    assert (0 < r2 ^ 2 * (1 - th1 / th2) ^ 2).
    { apply Q; [assumption|]. replace (1 - th1 / th2) with ((th2 - th1) / th2) by (field; lra).
      apply Rmult_integral_contrapositive_currified; [lra|apply Rinv_neq_0_compat; lra]. }
    rewrite E. nra. }
  destruct (IVT_cor phi p1 p2) as (eta & H & Z); [apply value_continuous|lra|nra|].
  assert (p1 < eta < p2) as Inside.
  { split; [destruct (proj1 H) as [|E]|destruct (proj2 H) as [|E]]; try assumption; exfalso;
      [rewrite E in V1|rewrite <- E in V2]; lra. }
  assert (Zero : s th1 th2 r1 r2 rho c eta = 0).
  { destruct (inside_poles th1 th2 eta T Inside) as [D1 D2].
    pose proof (secular_polynomial th1 th2 r1 r2 rho c eta ltac:(lra) ltac:(lra)) as E. fold phi in E. rewrite Z in E.
    apply Rmult_integral in E as [|E]; [assumption|exfalso].
    apply Rmult_integral in E as [E|E]; (apply (pow_nonzero (D _ eta) 2) in E; [assumption|lra]). }
  exists eta. split; [split; assumption|]. intros eta' [Inside' Zero'].
  destruct (Rtotal_order eta eta') as [L|[E|L]]; [|assumption|]; exfalso.
  - pose proof (s_falls th1 th2 r1 r2 rho c eta eta' T R1 ltac:(apply Inside) L ltac:(apply Inside')). lra.
  - pose proof (s_falls th1 th2 r1 r2 rho c eta' eta T R1 ltac:(apply Inside') L ltac:(apply Inside)). lra.
Qed.
