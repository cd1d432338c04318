(* Which means a nested cover speaks of: the convex hull of all systems, cut by strips. `_hull` and `_clipped` of
   verify.py, step by step, in real numbers. *)
From Formal Require Export Pool.
Require Export List Sorted.
Export ListNotations.

Definition point := (R * R)%type.
Definition region := list point.

(* Twice the area of a triangle, positive if its corners turn left. *)
Definition turn (p q r : point) :=
  (fst q - fst p) * (snd r - snd p) - (snd q - snd p) * (fst r - fst p).

(* A place lies in a region if no straight line separates it from the corners. *)
Definition inside (r : region) (m : point) :=
  forall u v, exists p, In p r
    /\ u * fst m + v * snd m <= u * fst p + v * snd p.

(* Corners in turn: any three of them, in this order, turn left, or lie on a line. *)
Fixpoint in_turn (r : region) : Prop :=
  match r with
  | [] => True
  | p :: r' => ForallOrdPairs (fun q s => 0 <= turn p q s) r' /\ in_turn r'
  end.

(* --- cutting ------------------------------------------------------------------------------------------------ *)

Definition over (slope sign limit : R) (p : point) :=
  sign * (snd p + slope * fst p) - limit.
Definition between (p q : point) t : point :=
  (fst p + t * (fst q - fst p), snd p + t * (snd q - snd p)).
Definition kept (over : point -> R) (e : point * point) : region :=
  let (p, q) := e in let here := over p in let there := over q in
  (if Rle_dec 0 here then [p] else [])
  ++ (if Rlt_dec (here * there) 0
      then [between p q (here / (here - there))] else []).
Definition edges (r : region) := combine r (tl r ++ firstn 1 r).
Definition cut_off over r := flat_map (kept over) (edges r).
Definition clipped r slope low high :=
  cut_off (over slope (-1) (- high)) (cut_off (over slope 1 low) r).

(* Three corners may be named from any of them on. *)
Lemma turn_round p q r : turn p q r = turn q r p.
Proof. unfold turn. ring. Qed.

Lemma fop_insert (P : point -> point -> Prop) A p m q B :
  (forall z, P z p -> P z q -> P z m) -> (forall z, P p z -> P q z -> P m z) -> (P p q -> P p m /\ P m q) ->
  ForallOrdPairs P (A ++ p :: q :: B) -> ForallOrdPairs P (A ++ p :: m :: q :: B).
Proof.
  intros L Rt M. induction A as [|a A IH]; cbn [app]; intros F; inversion F as [|? ? Fa F']; subst.
  - inversion F' as [|? ? Fq F'']; subst. inversion Fa as [|? ? Pq Fp]; subst. destruct (M Pq) as [M1 M2].
    constructor; [constructor; [assumption|constructor; assumption]|]. constructor.
    + constructor; [assumption|]. rewrite Forall_forall in *. auto.
    + now constructor.
  - constructor; [|now apply IH]. rewrite Forall_app in *. destruct Fa as [F1 F2]. split; [assumption|].
    inversion F2 as [|? ? X Y]; subst. inversion Y as [|? ? X' Y']; subst. repeat constructor; auto.
Qed.

Lemma fop_delete (P : point -> point -> Prop) A p B : ForallOrdPairs P (A ++ p :: B) -> ForallOrdPairs P (A ++ B).
Proof.
  induction A as [|a A IH]; cbn [app]; intros F; inversion F as [|? ? Fa F']; subst; [assumption|].
  constructor; [|now apply IH]. rewrite Forall_app in *. destruct Fa as [F1 F2]. now inversion F2.
Qed.

Lemma in_turn_delete A p B : in_turn (A ++ p :: B) -> in_turn (A ++ B).
Proof.
  induction A as [|a A IH]; cbn [app in_turn]; [tauto|]. intros [F T]. split; [now apply fop_delete in F|auto].
Qed.

Lemma turn_between_3 p q r s t : turn p q (between r s t) = (1 - t) * turn p q r + t * turn p q s.
Proof. unfold turn, between. cbn [fst snd]. ring. Qed.

Lemma turn_between_2 p q r s t : turn p (between r s t) q = (1 - t) * turn p r q + t * turn p s q.
Proof. unfold turn, between. cbn [fst snd]. ring. Qed.

Lemma turn_between_1 p q r s t : turn (between r s t) p q = (1 - t) * turn r p q + t * turn s p q.
Proof. unfold turn, between. cbn [fst snd]. ring. Qed.

Lemma turn_same_1 p q : turn p p q = 0.
Proof. unfold turn. ring. Qed.

Lemma turn_same_2 p q : turn p q q = 0.
Proof. unfold turn. ring. Qed.

Lemma turn_same_3 p q : turn p q p = 0.
Proof. unfold turn. ring. Qed.

Lemma mix t x y : 0 <= t <= 1 -> 0 <= x -> 0 <= y -> 0 <= (1 - t) * x + t * y.
Proof.
  intros. assert (0 <= (1 - t) * x) by (apply Rmult_le_pos; lra). assert (0 <= t * y) by (apply Rmult_le_pos; lra). lra.
Qed.

(* A corner more, on the side between two, changes nothing. *)
Lemma in_turn_insert A p q B t : 0 <= t <= 1 ->
  in_turn (A ++ p :: q :: B) -> in_turn (A ++ p :: between p q t :: q :: B).
Proof.
  intros Ht. induction A as [|a A IH]; cbn [app in_turn].
  - intros (Fp & Fq & T). inversion Fp as [|? ? Fpq Fpp]; subst. rewrite Forall_forall in Fpq.
    assert (Z : forall z, In z B -> 0 <= turn p q z) by auto. repeat split; try assumption.
    + constructor; [|assumption].
      apply Forall_forall. intros z [<-|Hz]; rewrite turn_between_2, turn_same_1.
      * rewrite turn_same_2. lra.
      * apply mix; auto; lra.
    + constructor.
      * apply Forall_forall. intros z Hz. rewrite turn_between_1, turn_same_1. apply mix; auto; lra.
      * clear - Fpp Fq Ht. induction B as [|b B IH]; constructor.
        -- inversion Fpp as [|? ? F1 _]; subst. inversion Fq as [|? ? F2 _]; subst. rewrite Forall_forall in *.
           intros z Hz. rewrite turn_between_1. apply mix; auto.
        -- inversion Fpp; inversion Fq; subst. now apply IH.
  - intros [F T]. split; [|auto]. revert F. apply fop_insert.
    + intros z Hp Hq. rewrite turn_between_3. now apply mix.
    + intros z Hp Hq. rewrite turn_between_2. now apply mix.
    + intros H. rewrite turn_between_3, turn_between_2, !turn_same_2. split; apply mix; lra.
Qed.

Lemma in_turn_close p l : in_turn (p :: l) -> in_turn (p :: l ++ [p]).
Proof.
  intros [F T]. split.
  - clear T. induction l as [|a l IH]; cbn [app]; [repeat constructor|]. inversion F as [|? ? Fa F']; subst.
    constructor; [|auto]. rewrite Forall_app. split; [assumption|]. constructor; [|constructor].
    rewrite turn_same_3. lra.
  - induction l as [|a l IH]; cbn [app in_turn]; [repeat constructor|]. inversion F as [|? ? Fa F']; subst.
    destruct T as [Ta T]. split; [|auto].
    clear - Fa Ta. induction l as [|c l IH]; cbn [app]; [repeat constructor|]. inversion Ta; inversion Fa; subst.
    constructor; [|auto]. rewrite Forall_app. split; [assumption|]. constructor; [|constructor].
    now rewrite <- turn_round.
Qed.

(* No corner lies to the right of a side. *)
Lemma in_turn_side A p q B z : in_turn (A ++ p :: q :: B) -> In z (A ++ p :: q :: B) -> 0 <= turn p q z.
Proof.
  induction A as [|a A IH]; cbn [app in_turn]; intros [F T] H.
  - destruct H as [<-|[<-|H]]; [rewrite turn_same_3; lra|rewrite turn_same_2; lra|].
    inversion F as [|? ? Fq _]; subst. rewrite Forall_forall in Fq. auto.
  - destruct H as [<-|H]; [|auto]. rewrite <- turn_round. clear - F. induction A as [|b A IH]; cbn [app] in F.
    + inversion F as [|? ? Fq _]; subst. now inversion Fq.
    + inversion F; subst. auto.
Qed.

(* A region walked around: its sides are the neighbours on the way. *)
Lemma edges_walk (p : point) l : edges (p :: l) = combine (p :: l) (l ++ [p]).
Proof. reflexivity. Qed.

Lemma neighbours (p : point) l z A a b' B : p :: l ++ [z] = A ++ a :: b' :: B ->
  In (a, b') (combine (p :: l) (l ++ [z])).
Proof.
  revert p A. induction l as [|q l IH]; intros p A E; cbn [app combine] in *.
  - destruct A as [|c [|c' A]]; cbn [app] in E; [left; congruence|discriminate|].
    injection E as _ _ E. now destruct A.
  - destruct A as [|c A]; cbn [app] in E; [left; congruence|]. right. injection E as _ E. now apply (IH q A).
Qed.

Lemma neighbours_inv (p : point) l z e : In e (combine (p :: l) (l ++ [z])) ->
  exists A B, p :: l ++ [z] = A ++ fst e :: snd e :: B.
Proof.
  revert p. induction l as [|q l IH]; intros p H; cbn [app combine] in *.
  - destruct H as [<-|[]]. now exists [], [].
  - destruct H as [<-|H]; [now exists [], (l ++ [z])|]. destruct (IH q H) as (A & B & E).
    exists (p :: A), B. cbn [app]. now rewrite <- E.
Qed.

Lemma side_of_all r e z : in_turn r -> In e (edges r) -> In z r -> 0 <= turn (fst e) (snd e) z.
Proof.
  destruct r as [|p l]; [contradiction|]. intros T H Hz. rewrite edges_walk in H.
  destruct (neighbours_inv p l p e H) as (A & B & E). apply in_turn_close in T. rewrite E in T.
  apply (in_turn_side A _ _ B); [assumption|]. rewrite <- E. change (In z ((p :: l) ++ [p])). apply in_or_app.
  now left.
Qed.

(* Cutting keeps corners in turn: some are added on sides, others are dropped. *)
Lemma share here there : here * there < 0 -> 0 <= here / (here - there) <= 1.
Proof.
  intros H. assert (N : here - there <> 0) by (intros E; assert (here = there) by lra; subst; nra).
  pose proof (square_positive _ N) as Q. assert (I : 0 < / (here - there) ^ 2) by now apply Rinv_0_lt_compat.
  split.
  - replace (here / (here - there)) with (here * (here - there) * / (here - there) ^ 2) by (field; assumption).
    apply Rmult_le_pos; nra.
  - apply Rminus_le.
    replace (here / (here - there) - 1) with (- (there * (there - here) * / (here - there) ^ 2)) by (field;
      assumption).
    assert (0 <= there * (there - here) * / (here - there) ^ 2) by (apply Rmult_le_pos; nra). lra.
Qed.

Lemma kept_in_turn ov A p q B : in_turn (A ++ p :: q :: B) -> in_turn (A ++ kept ov (p, q) ++ q :: B).
Proof.
  intros T. unfold kept. destruct (Rlt_dec (ov p * ov q) 0) as [L|L].
  - apply share in L. apply (in_turn_insert A p q B _ L) in T. set (m := between p q _) in *.
    destruct (Rle_dec 0 (ov p)); cbn [app]; [assumption|]. now apply in_turn_delete in T.
  - destruct (Rle_dec 0 (ov p)); cbn [app]; [assumption|]. now apply in_turn_delete in T.
Qed.

Lemma cut_off_in_turn ov r : in_turn r -> in_turn (cut_off ov r).
Proof.
  destruct r as [|p l]; [trivial|]. intros T. unfold cut_off. rewrite edges_walk.
  assert (G : forall l p out z, in_turn (out ++ p :: l ++ [z]) ->
    in_turn ((out ++ flat_map (kept ov) (combine (p :: l) (l ++ [z]))) ++ [z])).
  { clear. induction l as [|q l IH]; intros p out z T.
    - cbn [app combine flat_map] in *. rewrite app_nil_r, <- app_assoc. now apply kept_in_turn.
    - change (in_turn ((out ++ (kept ov (p, q) ++ flat_map (kept ov) (combine (q :: l) (l ++ [z])))) ++ [z])).
      rewrite app_assoc. apply IH. rewrite <- app_assoc. cbn [app] in T. now apply kept_in_turn. }
  apply in_turn_close in T. specialize (G l p [] p T). cbn [app] in G.
  apply in_turn_delete in G. now rewrite app_nil_r in G.
Qed.

(* Where a side passes the limit. *)
Definition crossing ov (e : point * point) := between (fst e) (snd e) (ov (fst e) / (ov (fst e) - ov (snd e))).

Lemma over_between s sg l p q t : over s sg l (between p q t) = (1 - t) * over s sg l p + t * over s sg l q.
Proof. unfold over, between. cbn [fst snd]. ring. Qed.

Lemma over_crossing s sg l e : over s sg l (fst e) <> over s sg l (snd e) ->
  over s sg l (crossing (over s sg l) e) = 0.
Proof. intros H. unfold crossing. rewrite over_between. field. lra. Qed.

Lemma change (P : point -> Prop) (dec : forall p, {P p} + {~ P p}) l : forall p q, P p -> ~ P q -> In q (p :: l) ->
  exists A a b' B, p :: l = A ++ a :: b' :: B /\ P a /\ ~ P b'.
Proof.
  induction l as [|c l IH]; intros p q Hp Hq H.
  - destruct H as [<-|[]]. contradiction.
  - destruct (dec c) as [Hc|Hc].
    + destruct H as [<-|H]; [contradiction|]. destruct (IH c q Hc Hq H) as (A & a & b' & B & E & X).
      exists (p :: A), a, b', B. split; [cbn [app]; congruence|assumption].
    + now exists [], p, c, l.
Qed.

Lemma change_around (P : point -> Prop) (dec : forall p, {P p} + {~ P p}) r p q : P p -> ~ P q -> In p r -> In q r ->
  exists e, In e (edges r) /\ P (fst e) /\ ~ P (snd e).
Proof.
  destruct r as [|o l]; [contradiction|]. intros Hp Hq Ip Iq. rewrite edges_walk.
  enough (X : exists A a b' B, o :: l ++ [o] = A ++ a :: b' :: B /\ P a /\ ~ P b').
  { destruct X as (A & a & b' & B & E & Pa & Pb). exists (a, b').
    split; [now apply (neighbours o l o A a b' B)|auto]. }
  destruct (dec o) as [Ho|Ho].
  - apply (change P dec (l ++ [o]) o q Ho Hq). change (In q ((o :: l) ++ [o])). apply in_or_app. now left.
  - destruct (in_split p (o :: l) Ip) as (A & B & E).
    destruct (change P dec (B ++ [o]) p o Hp Ho) as (A' & a & b' & B' & E' & X).
    + right. apply in_or_app. right. now left.
    + exists (A ++ A'), a, b', B'. split; [|assumption]. change (o :: l ++ [o]) with ((o :: l) ++ [o]).
      rewrite E, <- !app_assoc. cbn [app]. now rewrite E'.
Qed.

Lemma in_edges r p : In p r -> exists q, In (p, q) (edges r).
Proof.
  assert (G : forall l o z, In p (o :: l) -> exists q, In (p, q) (combine (o :: l) (l ++ [z]))).
  { induction l as [|c l IH]; intros o z H; cbn [app combine] in *.
    - destruct H as [->|[]]. exists z. now left.
    - destruct H as [->|H]; [exists c; now left|]. destruct (IH c z H) as (q & Hq). exists q. now right. }
  destruct r as [|o l]; [contradiction|]. rewrite edges_walk. apply G.
Qed.

Lemma edge_ends r e : In e (edges r) -> In (fst e) r /\ In (snd e) r.
Proof.
  destruct r as [|o l]; [contradiction|]. rewrite edges_walk. intros H. destruct e as [a c]. split.
  - now apply in_combine_l in H.
  - apply in_combine_r in H. apply in_app_or in H. destruct H as [H|[<-|[]]]; [now right|now left].
Qed.

Lemma kept_corner ov r p : In p r -> 0 <= ov p -> In p (cut_off ov r).
Proof.
  intros H P. destruct (in_edges r p H) as (q & Hq). unfold cut_off. apply in_flat_map. exists (p, q).
  split; [assumption|].
  unfold kept. apply in_or_app. left. destruct (Rle_dec 0 (ov p)); [now left|contradiction].
Qed.

(* A crossing is a corner of what is kept, also where it is a corner of the region. *)
Lemma crossing_kept ov r e : In e (edges r) -> 0 <= ov (fst e) /\ ov (snd e) < 0 \/ ov (fst e) < 0 /\ 0 <= ov (snd
  e) ->
  In (crossing ov e) (cut_off ov r).
Proof.
  intros H S. destruct (edge_ends r e H) as [I1 I2]. destruct e as [p q]. cbn [fst snd] in *. unfold crossing.
  cbn [fst snd].
  destruct (Rlt_dec (ov p * ov q) 0) as [L|L].
  - apply in_flat_map. exists (p, q). split; [assumption|]. unfold kept. apply in_or_app. right.
    destruct (Rlt_dec (ov p * ov q) 0); [now left|contradiction].
  - destruct S as [[S1 S2]|[S1 S2]].
    + assert (Z : ov p = 0) by nra. rewrite Z. replace (0 / (0 - ov q)) with 0 by (field; lra).
      replace (between p q 0) with p; [apply kept_corner; auto; lra|]. destruct p. unfold between. cbn [fst snd].
      f_equal; ring.
    + assert (Z : ov q = 0) by nra. rewrite Z. replace (ov p / (ov p - 0)) with 1 by (field; lra).
      replace (between p q 1) with q; [apply kept_corner; auto; lra|]. destruct q. unfold between. cbn [fst snd].
      f_equal; ring.
Qed.

Lemma some_or_all (P : point -> Prop) (dec : forall p, {P p} + {~ P p}) (r : region) :
  (exists p, In p r /\ P p) \/ (forall p, In p r -> ~ P p).
Proof.
  induction r as [|p r [(q & I & H)|IH]].
  - right. intros p [].
  - left. exists q. split; [now right|assumption].
  - destruct (dec p) as [H|H]; [left; exists p; split; [now left|assumption]|].
    right. intros q [<-|I]; auto.
Qed.

(* A number between numbers. *)
Lemma squeeze (A B : list R) : (forall a b', In a A -> In b' B -> a < b') ->
  exists s, (forall a, In a A -> a < s) /\ (forall b', In b' B -> s < b').
Proof.
  intros H.
  assert (X : forall A : list R, A = [] \/ exists m, In m A /\ forall a, In a A -> a <= m).
  { clear. induction A as [|a A [->|(m & I & M)]]; [now left| |].
    - right. exists a. split; [now left|]. intros c [->|[]]. lra.
    - right. destruct (Rle_dec a m); [exists m|exists a]; (split; [cbn; tauto|]); intros c [<-|Ic]; try lra;
        specialize (M c Ic); lra. }
  destruct (X A) as [->|(m & I & M)]; destruct (X (map Ropp B)) as [E|(n & J & N)].
  - apply map_eq_nil in E. subst. exists 0. split; intros ? [].
  - exists (- n - 1). split; [intros ? []|]. intros c Hc. specialize (N (- c) (in_map Ropp B c Hc)). lra.
  - apply map_eq_nil in E. subst. exists (m + 1). split; [|intros ? []]. intros c Hc. specialize (M c Hc). lra.
  - apply in_map_iff in J. destruct J as (k & <- & J). specialize (H m k I J). exists ((m + k) / 2).
    split; intros c Hc.
    + specialize (M c Hc). lra.
    + specialize (N (- c) (in_map Ropp B c Hc)). lra.
Qed.


(* On the limit, whatever lies to the left of a side that leaves and of a side that comes back lies between their
   crossings. *)
Lemma between_crossings s sg l u v g e1 e2 m : sg = 1 \/ sg = -1 -> let ov := over s sg l in
  0 <= ov (fst e1) -> ov (snd e1) < 0 -> ov (fst e2) < 0 -> 0 <= ov (snd e2) ->
  0 <= turn (fst e1) (snd e1) m -> 0 <= turn (fst e2) (snd e2) m -> ov m = 0 ->
  u * fst (crossing ov e1) + v * snd (crossing ov e1) < g ->
  u * fst (crossing ov e2) + v * snd (crossing ov e2) < g ->
  u * fst m + v * snd m < g.
Proof.
  intros Sg ov A1 B1 A2 B2 T1 T2 M C1 C2.
  assert (O1 : ov (crossing ov e1) = 0) by (apply over_crossing; unfold ov in *; lra).
  assert (O2 : ov (crossing ov e2) = 0) by (apply over_crossing; unfold ov in *; lra).
  assert (S : forall e c, turn (fst e) (snd e) c = 0 -> ov c = 0 ->
    turn (fst e) (snd e) m = (fst m - fst c) * - sg * (ov (snd e) - ov (fst e))).
  { intros e c Tc Oc. assert (snd m - snd c = - s * (fst m - fst c)) by (unfold ov, over in *; destruct Sg; subst;
      lra).
    replace (turn (fst e) (snd e) m) with (turn (fst e) (snd e) c
      + ((fst (snd e) - fst (fst e)) * (snd m - snd c) - (snd (snd e) - snd (fst e)) * (fst m - fst c)))
      by (unfold turn; ring).
    rewrite Tc, H. unfold ov, over. destruct Sg; subst; ring. }
  assert (Z : forall e, turn (fst e) (snd e) (crossing ov e) = 0).
  { intros e. unfold crossing. rewrite turn_between_3, turn_same_3, turn_same_2. ring. }
  rewrite (S e1 _ (Z e1) O1) in T1. rewrite (S e2 _ (Z e2) O2) in T2.
  set (c1 := crossing ov e1) in *. set (c2 := crossing ov e2) in *.
  assert (Y1 : snd m - snd c1 = - s * (fst m - fst c1)) by (unfold ov, over in *; destruct Sg; subst; lra).
  assert (Y2 : snd m - snd c2 = - s * (fst m - fst c2)) by (unfold ov, over in *; destruct Sg; subst; lra).
  assert (E1 : u * fst m + v * snd m = u * fst c1 + v * snd c1 + (u - v * s) * (fst m - fst c1))
    by (replace (snd m) with (snd c1 + - s * (fst m - fst c1)) by lra; ring).
  assert (E2 : u * fst m + v * snd m = u * fst c2 + v * snd c2 + (u - v * s) * (fst m - fst c2))
    by (replace (snd m) with (snd c2 + - s * (fst m - fst c2)) by lra; ring).
  assert (D1 : 0 <= sg * (fst m - fst c1)).
  { apply Rmult_le_reg_r with (ov (fst e1) - ov (snd e1)); [lra|]. rewrite Rmult_0_l.
    apply Rle_trans with (1 := T1). right. ring. }
  assert (D2 : sg * (fst m - fst c2) <= 0).
  { apply Rmult_le_reg_r with (ov (snd e2) - ov (fst e2)); [lra|]. rewrite Rmult_0_l.
    assert (sg * (fst m - fst c2) * (ov (snd e2) - ov (fst e2))
      = - ((fst m - fst c2) * - sg * (ov (snd e2) - ov (fst e2)))) by ring. lra. }
  destruct Sg; subst sg; destruct (Rle_dec 0 (u - v * s)); [rewrite E2|rewrite E1|rewrite E1|rewrite E2]; nra.
Qed.

(* Cutting loses no place on the side that is kept. *)
Lemma cut_off_inside s sg l r m : sg = 1 \/ sg = -1 -> in_turn r -> inside r m -> 0 <= over s sg l m ->
  inside (cut_off (over s sg l) r) m.
Proof.
  intros Sg T In_ M u v. set (ov := over s sg l) in *. set (g := fun p : point => u * fst p + v * snd p).
  change (exists p, In p (cut_off ov r) /\ g m <= g p).
  destruct (some_or_all (fun p => g m <= g p) (fun p => Rle_dec _ _) (cut_off ov r)) as [|N]; [assumption|exfalso].
  assert (N' : forall p, In p (cut_off ov r) -> g p < g m) by (intros p Hp; apply Rnot_le_lt, (N p Hp)). clear N.
  assert (Kept : forall p, In p r -> 0 <= ov p -> g p < g m) by (intros; now apply N', kept_corner).
  destruct (In_ (sg * s) sg) as (p0 & I0 & G0).
  assert (P0 : 0 <= ov p0) by (unfold ov, over in *; lra).
  destruct (In_ u v) as (q0 & J0 & H0). fold (g m) in H0. fold (g q0) in H0.
  assert (Q0 : ~ 0 <= ov q0) by (intros X; specialize (Kept q0 J0 X); lra).
  destruct (change_around (fun p => 0 <= ov p) (fun p => Rle_dec _ _) r p0 q0 P0 Q0 I0 J0) as (e1 & D1 & A1 & B1).
  assert (dec : forall p, {~ 0 <= ov p} + {~ ~ 0 <= ov p}) by (intros p; destruct (Rle_dec 0 (ov p));
    [right|left]; tauto).
  destruct (change_around (fun p => ~ 0 <= ov p) dec r q0 p0 Q0 ltac:(tauto) J0 I0) as (e2 & D2 & A2 & B2).
  cbv beta in A1, B1, A2, B2. apply Rnot_le_lt in B1, A2.
  assert (B2' : 0 <= ov (snd e2)) by (destruct (Rle_dec 0 (ov (snd e2))); [assumption|contradiction]). clear B2.
  assert (C1 : g (crossing ov e1) < g m) by (apply N', crossing_kept; auto).
  assert (C2 : g (crossing ov e2) < g m) by (apply N', crossing_kept; auto).
  assert (Pair : forall p q, In p r -> In q r -> 0 < ov p -> ov q < 0 -> (g q - g m) * ov p < (g p - g m) * ov q).
  { intros p q Ip Iq Pp Pq. set (c := crossing ov (p, q)). set (t := ov p / (ov p - ov q)).
    assert (St : 0 <= t <= 1) by (apply share; nra).
    assert (Cc : g c < g m).
    { apply (between_crossings s sg l u v (g m) e1 e2 c Sg); auto.
      - unfold c, crossing. cbn [fst snd]. fold t. rewrite turn_between_3. apply mix; auto; now apply (side_of_all r).
      - unfold c, crossing. cbn [fst snd]. fold t. rewrite turn_between_3. apply mix; auto; now apply (side_of_all r).
      - apply over_crossing. cbn [fst snd]. fold ov. lra. }
    assert (E : (g c - g m) * (ov p - ov q) = (g q - g m) * ov p - (g p - g m) * ov q)
      by (unfold c, crossing, g, between; cbn [fst snd]; field; lra). nra. }
  set (pos := filter (fun p => if Rlt_dec 0 (ov p) then true else false) r).
  set (neg := filter (fun p => if Rlt_dec (ov p) 0 then true else false) r).
  assert (Hpos : forall p, In p pos <-> In p r /\ 0 < ov p).
  { intros p. unfold pos. rewrite filter_In. destruct (Rlt_dec 0 (ov p)); intuition discriminate. }
  assert (Hneg : forall p, In p neg <-> In p r /\ ov p < 0).
  { intros p. unfold neg. rewrite filter_In. destruct (Rlt_dec (ov p) 0); intuition discriminate. }
  destruct (squeeze (0 :: map (fun q => (g q - g m) / - ov q) neg) (map (fun p => (g m - g p) / ov p) pos))
    as (t & Lo & Hi).
  { intros x z Hx Hz. apply in_map_iff in Hz. destruct Hz as (p & <- & Hp). apply Hpos in Hp. destruct Hp as [Ip Pp].
    destruct Hx as [<-|Hx].
    - apply Rdiv_lt_0_compat; [|assumption]. pose proof (Kept p Ip (Rlt_le _ _ Pp)). lra.
    - apply in_map_iff in Hx. destruct Hx as (q & <- & Hq). apply Hneg in Hq. destruct Hq as [Iq Pq].
      specialize (Pair p q Ip Iq Pp Pq). apply Rmult_lt_reg_r with (ov p * - ov q); [nra|].
      replace ((g q - g m) / - ov q * (ov p * - ov q)) with ((g q - g m) * ov p) by (field; lra).
      replace ((g m - g p) / ov p * (ov p * - ov q)) with ((g p - g m) * ov q) by (field; lra). assumption. }
  assert (Pt : 0 < t) by (apply Lo; now left).
  destruct (In_ (u + t * (sg * s)) (v + t * sg)) as (p & Ip & Gp).
  assert (X : g m + t * ov m <= g p + t * ov p) by (unfold g, ov, over; lra).
  assert (0 <= t * ov m) by (apply Rmult_le_pos; lra).
  destruct (Rtotal_order (ov p) 0) as [L|[E|L]].
  - assert (Y : (g p - g m) / - ov p < t) by (apply Lo; right; apply in_map_iff; exists p; split;
      [reflexivity|now apply Hneg]).
    apply (Rmult_lt_compat_r (- ov p)) in Y; [|lra]. unfold Rdiv in Y. rewrite Rmult_assoc, Rinv_l in Y by lra. lra.
  - rewrite E in X. pose proof (Kept p Ip ltac:(lra)). lra.
  - assert (Y : t < (g m - g p) / ov p) by (apply Hi; apply in_map_iff; exists p; split;
      [reflexivity|now apply Hpos]).
    apply (Rmult_lt_compat_r (ov p)) in Y; [|lra]. unfold Rdiv in Y. rewrite Rmult_assoc, Rinv_l in Y by lra. lra.
Qed.

Theorem clipped_loses_nothing : forall r slope low high m,
  in_turn r -> inside r m -> low <= snd m + slope * fst m <= high ->
  in_turn (clipped r slope low high) /\ inside (clipped r slope low high) m.
Proof.
  intros r slope low high m T I H. unfold clipped. split; [now apply cut_off_in_turn, cut_off_in_turn|].
  apply cut_off_inside; [now right|now apply cut_off_in_turn| |unfold over; lra].
  apply cut_off_inside; [now left|assumption|assumption|unfold over; lra].
Qed.

(* --- the hull ----------------------------------------------------------------------------------------------- *)

Definition before (p q : point) :=
  fst p < fst q \/ fst p = fst q /\ snd p < snd q.

Lemma before_dec p q : {before p q} + {~ before p q}.
Proof.
  unfold before. destruct (Rlt_dec (fst p) (fst q)); [left; now left|].
  destruct (Req_EM_T (fst p) (fst q)), (Rlt_dec (snd p) (snd q)); (left; right; tauto) || (right; tauto).
Qed.

Definition turns_left (p q r : point) :=
  Rlt_dec ((snd q - snd p) * (fst r - fst p)) ((fst q - fst p) * (snd r - snd p)).

(* sorted(set(points)) *)
Fixpoint insert (p : point) (l : region) : region :=
  match l with
  | [] => [p]
  | q :: l' => if before_dec p q then p :: l else if before_dec q p then q :: insert p l' else l
  end.
Definition sorted_set (points : region) := fold_right insert [] points.

(* The list `half`, its last corner first. *)
Fixpoint popped (half : region) (r : point) : region :=
  match half with
  | q :: ((p :: _) as rest) => if turns_left p q r then half else popped rest r
  | _ => half
  end.
Definition half (way : region) :=
  rev (fold_left (fun half r => r :: popped half r) way []).
Definition hull (points : region) : region :=
  removelast (half (sorted_set points))
  ++ removelast (half (rev (sorted_set points))).

Lemma before_split p q : p = q \/ before p q \/ before q p.
Proof.
  unfold before. destruct (Rtotal_order (fst p) (fst q)) as [|[E|]]; try lra.
  destruct (Rtotal_order (snd p) (snd q)) as [|[F|]]; try lra. left. destruct p, q. cbn in *. congruence.
Qed.

Lemma before_trans p q r : before p q -> before q r -> before p r.
Proof. unfold before. lra. Qed.

Lemma insert_in p l z : In z (insert p l) <-> z = p \/ In z l.
Proof.
  induction l as [|q l IH]; cbn [insert]; [cbn; intuition congruence|].
  destruct (before_dec p q) as [B|B]; [cbn; intuition congruence|].
  destruct (before_dec q p) as [C|C]; [cbn; rewrite IH; intuition congruence|].
  assert (p = q) by (destruct (before_split p q); tauto). subst. cbn. intuition congruence.
Qed.

Lemma insert_sorted p l : StronglySorted before l -> StronglySorted before (insert p l).
Proof.
  induction l as [|q l IH]; cbn [insert]; intros S; [repeat constructor|]. inversion S as [|? ? S' F]; subst.
  destruct (before_dec p q) as [B|B].
  - constructor; [assumption|]. constructor; [assumption|]. rewrite Forall_forall in *.
    intros z Hz. apply before_trans with q; auto.
  - destruct (before_dec q p) as [C|C]; [|assumption]. constructor; [auto|]. rewrite Forall_forall in *.
    intros z Hz. apply insert_in in Hz. destruct Hz as [->|Hz]; auto.
Qed.

Lemma sorted_set_in points z : In z (sorted_set points) <-> In z points.
Proof.
  induction points as [|p l IH]; [tauto|]. cbn [sorted_set fold_right]. fold (sorted_set l).
  rewrite insert_in, IH. cbn. intuition congruence.
Qed.

Lemma sorted_set_sorted points : StronglySorted before (sorted_set points).
Proof. induction points as [|p l IH]; [constructor|]. now apply insert_sorted. Qed.

(* Both ways at once: forwards with sg = 1, backwards with sg = -1. *)
Section Half.
Variables (sg : R).
Hypothesis (Sg : sg = 1 \/ sg = -1).

Definition forth (x y : R) := 0 < sg * x \/ x = 0 /\ 0 < sg * y.
Definition ahead (p q : point) := forth (fst q - fst p) (snd q - snd p).

Lemma ahead_trans p q r : ahead p q -> ahead q r -> ahead p r.
Proof using Sg. unfold ahead, forth. destruct Sg; subst; lra. Qed.

Lemma ahead_irrefl p q : ahead p q -> ahead q p -> False.
Proof using Sg. unfold ahead, forth. destruct Sg; subst; lra. Qed.

Lemma ahead_split p q : p = q \/ ahead p q \/ ahead q p.
Proof using Sg.
  destruct (before_split p q) as [|[H|H]]; [now left| |]; unfold before, ahead, forth in *;
    destruct Sg; subst; right; lra.
Qed.

(* Directions that go forth are ordered by their slopes. *)
Lemma slopes a1 a2 b1 b2 c1 c2 : forth a1 a2 -> forth b1 b2 -> forth c1 c2 ->
  0 <= a1 * b2 - a2 * b1 -> 0 <= b1 * c2 - b2 * c1 -> 0 <= a1 * c2 - a2 * c1.
Proof using Sg.
  intros A B C H H'. unfold forth in *. destruct B as [B|[-> B]].
  - apply Rmult_le_reg_l with (sg * b1); [assumption|].
    assert (0 <= sg * a1) by (destruct A as [|[-> _]]; lra). assert (0 <= sg * c1) by (destruct C as [|[-> _]]; lra).
    replace (sg * b1 * (a1 * c2 - a2 * c1)) with (sg * c1 * (a1 * b2 - a2 * b1) + sg * a1 * (b1 * c2 - b2 * c1))
      by ring.
    rewrite Rmult_0_r. apply Rplus_le_le_0_compat; now apply Rmult_le_pos.
  - assert (Z : c1 = 0).
    { destruct C as [C|[C _]]; [|assumption].
      assert (0 < (sg * b2) * (sg * c1)) by now apply Rmult_lt_0_compat. destruct Sg; subst; lra. }
    subst. destruct C as [C|[_ C]]; [lra|]. destruct A as [A|[-> A]]; [|lra].
    assert (0 < (sg * a1) * (sg * c2)) by now apply Rmult_lt_0_compat. destruct Sg; subst; lra.
Qed.

(* What holds of the list `half`, last corner first, after the places `done`. *)
Definition supported (done st : region) :=
  forall A q p B, st = A ++ q :: p :: B -> forall s, In s done -> 0 <= turn p q s.
Definition sorted st := StronglySorted (fun q p => ahead p q) st.
Definition reached done st :=
  forall u v, sg * v <= 0 -> forall s, In s done ->
  exists h, In h st /\ u * fst s + v * snd s <= u * fst h + v * snd h.

Lemma supported_tail done q st : supported done (q :: st) -> supported done st.
Proof. intros S A a c B E. apply (S (q :: A) a c B). now rewrite E. Qed.

Lemma pop_corner u v a q r : sg * v <= 0 -> ahead a q -> ahead q r -> turn a q r <= 0 ->
  u * fst q + v * snd q <= u * fst a + v * snd a \/ u * fst q + v * snd q <= u * fst r + v * snd r.
Proof using Sg.
  intros V A Q T. destruct (Rle_dec (u * fst q + v * snd q) (u * fst a + v * snd a)) as [|N1]; [now left|].
  right. apply Rnot_lt_le. intros N2. apply Rnot_le_lt in N1. unfold ahead, forth, turn in *.
  set (x := fst q - fst a) in *. set (y := snd q - snd a) in *.
  set (x' := fst r - fst q) in *. set (y' := snd r - snd q) in *.
  replace (fst r - fst a) with (x + x') in T by (unfold x, x'; ring).
  replace (snd r - snd a) with (y + y') in T by (unfold y, y'; ring).
  assert (G1 : 0 < u * x + v * y) by (unfold x, y; lra). assert (G2 : u * x' + v * y' < 0) by (unfold x', y'; lra).
  clearbody x y x' y'. clear N1 N2.
  (* x·(ux' + vy') − x'·(ux + vy) = v·(xy' − yx') *)
  assert (E : sg * x * (u * x' + v * y') - sg * x' * (u * x + v * y) = sg * v * (x * y' - y * x')) by ring.
  assert (0 <= sg * v * (x * y' - y * x')) by nra.
  destruct A as [A|[-> A]]; destruct Q as [Q|[-> Q]].
  - assert (0 < sg * x' * (u * x + v * y)) by now apply Rmult_lt_0_compat.
    assert (0 < sg * x * - (u * x' + v * y')) by (apply Rmult_lt_0_compat; lra). lra.
  - assert (0 < sg * x * - (u * 0 + v * y')) by (apply Rmult_lt_0_compat; lra). lra.
  - assert (0 < sg * x' * (u * 0 + v * y)) by now apply Rmult_lt_0_compat. lra.
  - assert (sg * v * (sg * y) <= 0) by nra. assert (sg * sg = 1) by (destruct Sg; subst; lra). nra.
Qed.

(* The places beyond the last corner lie to the left of the way to the next. *)
Definition beyond done r st :=
  match st with [] => True | q :: _ => ahead q r /\ forall s, In s done -> ahead q s -> 0 <= turn q r s end.

Lemma pop_all done r st : sorted st -> incl st done -> supported done st -> beyond done r st ->
  let st' := popped st r in
  (exists front, st = front ++ st') /\ (st <> [] -> st' <> []) /\ beyond done r st'
  /\ (forall q p rest, st' = q :: p :: rest -> 0 < turn p q r)
  /\ (forall u v, sg * v <= 0 -> forall s, In s st ->
      exists h, In h (r :: st') /\ u * fst s + v * snd s <= u * fst h + v * snd h).
Proof using Sg.
  assert (Same : forall st', (exists front : region, st' = front ++ st')
    /\ (forall u v, sg * v <= 0 -> forall s, In s st' ->
      exists h, In h (r :: st') /\ u * fst s + v * snd s <= u * fst h + v * snd h)).
  { intros st'. split; [now exists []|]. intros u v _ s Hs. exists s. split; [now right|lra]. }
  induction st as [|q st IH]; intros So I Su Be; [cbn; split; [apply (Same [])|]; split; [tauto|]; split;
    [trivial|]; split; [discriminate|apply (Same [])]|].
  destruct st as [|p rest]; cbn [popped].
  - split; [apply Same|]. split; [auto|]. split; [assumption|]. split; [discriminate|apply Same].
  - destruct (turns_left p q r) as [L|L].
    + split; [apply Same|]. split; [auto|]. split; [assumption|]. split; [|apply Same]. intros q' p' rest' E.
      injection E as <- <- <-. unfold turn. lra.
    + assert (L' : turn p q r <= 0) by (unfold turn; lra).
      inversion So as [|? ? So' F]; subst. inversion F as [|? ? Apq _]; subst. destruct Be as [Aq Bq].
      assert (Apr : ahead p r) by now apply ahead_trans with q.
      destruct IH as ((front & E) & N & B' & T' & R'); auto.
      * intros z Hz. apply I. now right.
      * now apply supported_tail in Su.
      * split; [assumption|]. intros s Hs As.
        assert (P1 : 0 <= turn p q s) by (apply (Su [] q p rest); auto). rewrite turn_round, turn_round in *.
        unfold turn in *. unfold ahead in *.
        pose proof (slopes _ _ _ _ _ _ Apr Apq As). lra.
      * split; [|split; [|split; [|split]]]; auto.
        -- exists (q :: front). cbn [app]. f_equal. exact E.
        -- intros _. apply N. discriminate.
        -- intros u v V s [<-|Hs]; [|now apply R'].
           destruct (pop_corner u v p q r V Apq Aq L') as [G|G].
           ++ destruct (R' u v V p (or_introl eq_refl)) as (h & Hh & G'). exists h. split; [assumption|lra].
           ++ exists r. split; [now left|assumption].
Qed.

Definition ends done st := match st with [] => done = [] | q :: _ => (forall s, In s done -> s = q \/ ahead s q)
  /\ exists A f, st = A ++ [f] /\ forall s, In s done -> s = f \/ ahead f s end.
Definition scanned done st := sorted st /\ incl st done /\ supported done st /\ reached done st /\ ends done st.

Lemma sorted_suffix front st : sorted (front ++ st) -> sorted st.
Proof. induction front as [|q front IH]; [trivial|]. intros S. inversion S; subst. auto. Qed.

Lemma supported_suffix done front st : supported done (front ++ st) -> supported done st.
Proof. induction front as [|q front IH]; [trivial|]. intros S. apply supported_tail in S. auto. Qed.

Lemma sorted_next A q p B : sorted (A ++ q :: p :: B) -> ahead p q.
Proof. intros S. apply sorted_suffix in S. inversion S as [|? ? _ F]; subst. now inversion F. Qed.

Lemma sorted_head q st z : sorted (q :: st) -> In z st -> ahead z q.
Proof. intros S H. inversion S as [|? ? _ F]; subst. rewrite Forall_forall in F. auto. Qed.

Lemma scan_step done st r : scanned done st -> (forall s, In s done -> ahead s r) ->
  scanned (r :: done) (r :: popped st r).
Proof using Sg.
  intros (So & I & Su & Re & En) Ar. destruct st as [|top st0].
  { cbn in En. subst. cbn [popped]. split; [repeat constructor|]. split; [apply incl_refl|]. split; [|split].
    - intros A q p B E. apply (f_equal (@length point)) in E. rewrite app_length in E. cbn in E. lia.
    - intros u v _ s Hs. exists s. split; [assumption|lra].
    - split; [intros s [<-|[]]; now left|]. exists [], r. split; [reflexivity|]. intros s [<-|[]]. now left. }
  destruct En as [Hd (A0 & f & Ef & Lf)].
  assert (Be : beyond done r (top :: st0)).
  { split; [apply Ar, I; now left|]. intros s Hs As. exfalso. destruct (Hd s Hs) as [->|H].
    - now apply (ahead_irrefl top top).
    - now apply (ahead_irrefl top s). }
  destruct (pop_all done r (top :: st0) So I Su Be) as ((front & E) & N & Be' & Tu & Po).
  specialize (N ltac:(discriminate)).
  set (st2 := popped (top :: st0) r) in *. clearbody st2.
  assert (So2 : sorted st2) by (apply (sorted_suffix front); now rewrite <- E).
  assert (Su2 : supported done st2) by (apply (supported_suffix done front); now rewrite <- E).
  assert (I2 : incl st2 done) by (intros z Hz; apply I; rewrite E; apply in_or_app; now right).
  assert (Ef2 : exists A2, st2 = A2 ++ [f]).
  { destruct (exists_last N) as (A2 & f2 & E2). exists A2. rewrite E2. do 2 f_equal.
    rewrite E2, app_assoc, Ef in E. apply app_inj_tail in E. now symmetry. }
  split; [|split; [|split; [|split]]].
  - constructor; [assumption|]. apply Forall_forall. intros z Hz. auto.
  - intros z [<-|Hz]; [now left|right; auto].
  - intros A q p B EA s Hs. destruct A as [|a A]; cbn [app] in EA.
    + injection EA as <- ->. destruct Hs as [<-|Hs]; [rewrite turn_same_2; lra|].
      destruct (ahead_split p s) as [->|[H|H]]; [rewrite turn_same_3; lra|now apply Be'|].
      destruct B as [|p' B].
      * exfalso. destruct Ef2 as (A2 & E2). destruct A2 as [|? [|? ?]]; try discriminate. injection E2 as ->.
        destruct (Lf s Hs) as [->|H']; [now apply (ahead_irrefl f f)|now apply (ahead_irrefl f s)].
      * pose proof (Tu p p' B eq_refl) as T1. pose proof (Su2 [] p p' B eq_refl s Hs) as T2.
        pose proof (sorted_next [] p p' B So2) as H1. pose proof (Ar p ltac:(apply I2; now left)) as H2.
        unfold ahead, turn in *. pose proof (slopes _ _ _ _ _ _ H H1 H2). lra.
    + injection EA as <- EA. destruct Hs as [<-|Hs]; [|now apply (Su2 A q p B)].
      destruct A as [|t A]; cbn [app] in EA; [apply Rlt_le, (Tu q p B EA)|].
      assert (X : exists t' rest, A ++ q :: p :: B = t' :: rest) by (destruct A; cbn; eauto).
      destruct X as (t' & rest & X). rewrite EA in Tu, Su2, So2, I2. rewrite X in Tu, Su2, So2, I2.
      assert (Ip : In p (t' :: rest)) by (rewrite <- X; apply in_or_app; right; right; now left).
      pose proof (Tu t t' rest eq_refl) as T1.
      pose proof (Su2 [] t t' rest eq_refl p ltac:(apply I2; now right)) as T2.
      assert (T3 : 0 <= turn p q t).
      { apply (Su2 (t :: A) q p B); [cbn; now rewrite X|apply I2; now left]. }
      pose proof (sorted_next [] t t' rest So2) as H1. pose proof (Ar t ltac:(apply I2; now left)) as H2.
      pose proof (sorted_head t (t' :: rest) p So2 Ip) as H3.
      assert (H4 : ahead p q) by (apply (sorted_next (t :: A) q p B); cbn; now rewrite X).
      unfold ahead, turn in *.
      assert (Y1 : 0 <= (fst q - fst p) * (snd t - snd t') - (snd q - snd p) * (fst t - fst t'))
        by (apply (slopes _ _ _ _ _ _ H4 H3 H1); lra).
      assert (Y2 : 0 <= (fst q - fst p) * (snd r - snd t) - (snd q - snd p) * (fst r - fst t))
        by (apply (slopes _ _ _ _ _ _ H4 H1 H2); lra).
      lra.
  - intros u v V s [<-|Hs]; [exists r; split; [now left|lra]|].
    destruct (Re u v V s Hs) as (h & Hh & G). destruct (Po u v V h Hh) as (h' & Hh' & G').
    exists h'. split; [assumption|lra].
  - split.
    + intros s [<-|Hs]; [now left|right; auto].
    + destruct Ef2 as (A2 & E2). exists (r :: A2), f. split; [cbn; congruence|]. intros s [<-|Hs]; [|auto].
      right. apply Ar, I2. rewrite E2. apply in_or_app. right. now left.
Qed.

Lemma scan way : forall done st, scanned done st -> StronglySorted ahead way ->
  (forall s r, In s done -> In r way -> ahead s r) ->
  scanned (rev way ++ done) (fold_left (fun half r => r :: popped half r) way st).
Proof using Sg.
  induction way as [|r way IH]; intros done st S W F; [assumption|]. cbn [rev fold_left]. rewrite <- app_assoc.
  inversion W as [|? ? W' Fr]; subst. rewrite Forall_forall in Fr. apply IH; auto.
  - apply scan_step; auto. intros s Hs. apply F; [assumption|now left].
  - intros s z [<-|Hs] Hz; [auto|]. apply F; [assumption|now right].
Qed.

Lemma scan_all way : StronglySorted ahead way ->
  scanned (rev way) (fold_left (fun half r => r :: popped half r) way []).
Proof using Sg.
  intros W. rewrite <- (app_nil_r (rev way)). apply scan; [|assumption|intros ? ? []].
  split; [constructor|]. split; [intros ? []|]. split; [|split; [intros ? ? ? ? []|reflexivity]].
  intros A q p B E. now destruct A.
Qed.

Section Scanned.
Variables (done st : region).
Hypothesis (S : scanned done st).

(* A corner but the last has a next one, a corner but the first one before it. *)
Lemma next_corner q z : In q st -> In z done -> ahead q z ->
  exists q', ahead q q' /\ forall s, In s done -> 0 <= turn q q' s.
Proof using Sg S.
  destruct S as (So & I & Su & Re & En). intros Hq Hz A. destruct (in_split q st Hq) as (F & B & E).
  destruct F as [|a F] using rev_ind.
  - rewrite E in En. cbn in En. destruct (proj1 En z Hz) as [->|H]; exfalso; eauto using ahead_irrefl.
  - rewrite <- app_assoc in E. cbn [app] in E. exists a. split.
    + apply (sorted_next F a q B). now rewrite <- E.
    + intros s Hs. now apply (Su F a q B).
Qed.

Lemma corner_before p z : In p st -> In z done -> ahead z p ->
  exists p', ahead p' p /\ forall s, In s done -> 0 <= turn p' p s.
Proof using Sg S.
  destruct S as (So & I & Su & Re & En). intros Hp Hz A. destruct (in_split p st Hp) as (F & B & E).
  destruct B as [|a B].
  - destruct st as [|q st']; [now destruct F|]. destruct En as [_ (G & f & E' & L)]. rewrite E' in E.
    apply app_inj_tail in E. destruct E as [_ ->].
    destruct (L z Hz) as [->|H]; exfalso; eauto using ahead_irrefl.
  - exists a. split; [apply (sorted_next F p a B); now rewrite <- E|]. intros s Hs. now apply (Su F p a B).
Qed.

Lemma pair_beyond p q z : In p st -> In q st -> ahead p q -> In z done -> ahead q z -> 0 <= turn p q z.
Proof using Sg S.
  intros Hp Hq A Hz H. destruct (next_corner q z Hq Hz H) as (q' & A' & T).
  pose proof (T p (proj1 (proj2 S) p Hp)) as T1. pose proof (T z Hz) as T2.
  unfold ahead, turn in *. pose proof (slopes _ _ _ _ _ _ A A' H). lra.
Qed.

Lemma pair_short p q z : In p st -> In q st -> ahead p q -> In z done -> ahead z p -> 0 <= turn p q z.
Proof using Sg S.
  intros Hp Hq A Hz H. destruct (corner_before p z Hp Hz H) as (p' & A' & T).
  pose proof (T q (proj1 (proj2 S) q Hq)) as T1. pose proof (T z Hz) as T2.
  unfold ahead, turn in *. pose proof (slopes _ _ _ _ _ _ H A' A). lra.
Qed.

Lemma pair_under p q z : In z st -> In p done -> In q done -> ahead q z -> ahead z p -> 0 <= turn p q z.
Proof using Sg S.
  intros Hz Hp Hq H1 H2. destruct (next_corner z p Hz Hp H2) as (z' & A' & T).
  pose proof (T p Hp) as T1. pose proof (T q Hq) as T2.
  unfold ahead, turn in *. pose proof (slopes _ _ _ _ _ _ H1 A' H2). lra.
Qed.

Lemma fop_way (P : point -> point -> Prop) :
  (forall p q, In p st -> In q st -> ahead p q -> P p q) -> ForallOrdPairs P (rev st).
Proof using S.
  destruct S as (So & _). clear S. induction st as [|q l IH]; intros H; cbn [rev]; [constructor|].
  assert (F : ForallOrdPairs P (rev l)).
  { apply IH; [now inversion So|]. intros a c Ha Hc. apply H; now right. }
  assert (L : forall z, In z (rev l) -> P z q).
  { intros z Hz. apply in_rev in Hz. apply H; [now right|now left|now apply (sorted_head q l)]. }
  clear - F L. induction (rev l) as [|a l' IH]; cbn [app]; [repeat constructor|]. inversion F; subst.
  constructor; [|apply IH; [assumption|intros; apply L; now right]].
  apply Forall_app. split; [assumption|]. repeat constructor. apply L. now left.
Qed.
End Scanned.
End Half.

Lemma in_turn_app A B : in_turn A -> in_turn B -> (forall z, In z B ->
  ForallOrdPairs (fun p q => 0 <= turn p q z) A) ->
  (forall z, In z A -> ForallOrdPairs (fun p q => 0 <= turn z p q) B) -> in_turn (A ++ B).
Proof.
  intros TA TB HB HA. induction A as [|a A IH]; [assumption|]. cbn [app in_turn]. destruct TA as [Fa TA].
  assert (HB' : forall z, In z B -> forall q, In q A -> 0 <= turn a q z).
  { intros z Hz. specialize (HB z Hz). inversion HB as [|? ? F _]; subst. now apply Forall_forall. }
  split.
  - specialize (HA a (or_introl eq_refl)). clear - Fa HA HB'. induction A as [|c A IH]; cbn [app]; [assumption|].
    inversion Fa as [|? ? F Fa']; subst. constructor.
    + apply Forall_app. split; [assumption|]. apply Forall_forall. intros z Hz. apply HB'; [assumption|now left].
    + apply IH; [assumption|]. intros z Hz q Hq. apply HB'; [assumption|now right].
  - apply IH; auto.
    + intros z Hz. specialize (HB z Hz). now inversion HB.
    + intros z Hz. apply HA. now right.
Qed.

Lemma in_turn_way sg st : sorted sg st ->
  (forall p q z, In p st -> In q st -> In z st -> ahead sg p q -> ahead sg q z -> 0 <= turn p q z) ->
    in_turn (rev st).
Proof.
  induction st as [|z l IH]; intros So H; cbn [rev]; [exact I|]. apply in_turn_app.
  - apply IH; [now inversion So|]. intros p q r Hp Hq Hr. apply H; now right.
  - repeat constructor.
  - intros z' [<-|[]].
    assert (G : forall m, (forall p, In p m -> In p l) -> sorted sg m ->
      ForallOrdPairs (fun p q => 0 <= turn p q z) (rev m)).
    { induction m as [|q m IHm]; intros Sub Sm; cbn [rev]; [constructor|].
      assert (F : ForallOrdPairs (fun p q => 0 <= turn p q z) (rev m))
        by (apply IHm; [intros; apply Sub; now right|now inversion Sm]).
      assert (L : forall p, In p (rev m) -> 0 <= turn p q z).
      { intros p Hp. apply in_rev in Hp. apply H; try (right; apply Sub; cbn; tauto); [now left| |].
        - now apply (sorted_head sg q m).
        - apply (sorted_head sg z l); [assumption|]. apply Sub. now left. }
      clear - F L. induction (rev m) as [|a l' IH]; cbn [app]; [repeat constructor|]. inversion F; subst.
      constructor; [|apply IH; [assumption|intros; apply L; now right]].
      apply Forall_app. split; [assumption|]. constructor; [|constructor]. apply L. now left. }
    apply G; [auto|now inversion So].
  - intros p _. repeat constructor.
Qed.

Lemma ahead_back sg p q : ahead (- sg) p q <-> ahead sg q p.
Proof. unfold ahead, forth. lra. Qed.

(* A pair on one way and a place on the other. *)
Lemma pair_and_other sg done done' st st' p q z : sg = 1 \/ sg = -1 -> (forall s, In s done <-> In s done') ->
  scanned sg done st -> scanned (- sg) done' st' ->
  In p st -> In q st -> ahead sg p q -> In z st' -> 0 <= turn p q z.
Proof.
  intros Sg Same S S' Hp Hq A Hz.
  assert (Sg' : - sg = 1 \/ - sg = -1) by (destruct Sg; subst; lra).
  assert (Dz : In z done) by (apply Same; now apply (proj1 (proj2 S'))).
  destruct (ahead_split sg Sg q z) as [<-|[H|H]]; [rewrite turn_same_2; lra|now apply (pair_beyond sg Sg done st)|].
  destruct (ahead_split sg Sg p z) as [<-|[H'|H']]; [rewrite turn_same_3; lra| |now apply (pair_short sg Sg done st)].
  apply (pair_under (- sg) Sg' done' st' S'); auto; try (apply Same; now apply (proj1 (proj2 S)));
    now apply ahead_back.
Qed.

Lemma strongly_sorted_weaken (P Q : point -> point -> Prop) l : (forall p q, P p q -> Q p q) ->
  StronglySorted P l -> StronglySorted Q l.
Proof. intros H. induction 1 as [|a l _ IH F]; constructor; auto. revert F. apply Forall_impl. auto. Qed.

Lemma strongly_sorted_rev (P : point -> point -> Prop) l : StronglySorted P l ->
  StronglySorted (fun p q => P q p) (rev l).
Proof.
  induction 1 as [|a l _ IH F]; cbn [rev]; [constructor|].
  assert (L : forall z, In z (rev l) -> P a z) by (intros z Hz; apply in_rev in Hz; rewrite Forall_forall in F; auto).
  clear F. induction (rev l) as [|c l' IH']; cbn [app]; [repeat constructor|]. inversion IH; subst.
  constructor; [apply IH'; [assumption|intros; apply L; now right]|].
  apply Forall_app. split; [assumption|]. repeat constructor. apply L. now left.
Qed.

(* The hull has its corners in turn, and no place in the hull of all points is lost, if not all of them coincide. *)
Theorem hull_holds_all : forall points p q m,
  In p points -> In q points -> p <> q -> inside points m ->
  in_turn (hull points) /\ inside (hull points) m.
Proof.
  intros points p0 q0 m Ip Iq N M. unfold hull, half. set (S := sorted_set points).
  set (push := fun half r => r :: popped half r).
  assert (One : (1 : R) = 1 \/ (1 : R) = -1) by now left. assert (Two : (- 1 : R) = 1 \/ (- 1 : R) = -1) by now right.
  pose proof (sorted_set_sorted points) as So. fold S in So.
  assert (L : scanned 1 (rev S) (fold_left push S [])).
  { apply scan_all; [assumption|]. revert So. apply strongly_sorted_weaken. unfold before, ahead, forth.
    intros; lra. }
  assert (U : scanned (- (1)) (rev (rev S)) (fold_left push (rev S) [])).
  { apply scan_all; [assumption|]. apply strongly_sorted_rev in So. revert So. apply strongly_sorted_weaken.
    unfold before, ahead, forth. intros; lra. }
  assert (Same : forall s, In s (rev S) <-> In s (rev (rev S))) by (intros; now rewrite <- (in_rev (rev S))).
  assert (In0 : forall s, In s points -> In s (rev S)) by (intros s Hs; rewrite <- in_rev; now apply sorted_set_in).
  set (stL := fold_left push S []) in *. set (stU := fold_left push (rev S) []) in *. clearbody stL stU.
  assert (Ends : forall sg done st, sg = 1 \/ sg = -1 -> scanned sg done st -> (forall s, In s points -> In s done) ->
    exists q A f, st = q :: A ++ [f] /\ (forall s, In s done -> s = q \/ ahead sg s q)
      /\ (forall s, In s done -> s = f \/ ahead sg f s)).
  { intros sg done st Sg (_ & I & _ & _ & En) D. destruct st as [|q st].
    - cbn in En. subst. destruct (D p0 Ip).
    - destruct En as [H (A & f & E & F)]. destruct A as [|q' A].
      + exfalso. cbn in E. injection E as <- ->. apply N.
        assert (X : forall s, In s points -> s = q).
        { intros s Hs. specialize (D s Hs). destruct (H s D) as [|H1]; [assumption|].
          destruct (F s D) as [|H2]; [assumption|]. exfalso. now apply (ahead_irrefl sg Sg q s). }
        rewrite (X p0), (X q0); auto.
      + cbn [app] in E. injection E as <- ->. exists q, A, f. auto. }
  destruct (Ends 1 (rev S) stL One L In0) as (M1 & A & f & EL & HL & FL).
  destruct (Ends (- (1)) (rev (rev S)) stU Two U) as (m1 & A' & f' & EU & HU & FU); [intros; apply Same; auto|].
  assert (Uniq : forall s s', (s = s' \/ ahead 1 s s') -> (s' = s \/ ahead 1 s' s) -> s = s').
  { intros s s' [|H] [|H']; auto. exfalso. now apply (ahead_irrefl 1 One s s'). }
  assert (Dn : forall s, In s stL -> In s (rev S)) by apply L.
  assert (Dn' : forall s, In s stU -> In s (rev S)) by (intros; apply Same; now apply (proj1 (proj2 U))).
  assert (Ef : f' = M1).
  { apply Uniq.
    - apply HL, Dn'. rewrite EU. right. apply in_or_app. right. now left.
    - destruct (FU M1) as [|H]; [apply Same, Dn; rewrite EL; now left|now left|right; now apply ahead_back]. }
  assert (Ef' : f = m1).
  { apply Uniq.
    - destruct (FL m1) as [H|H]; [apply Dn'; rewrite EU; now left|left; now symmetry|now right].
    - destruct (HU f) as [H|H]; [apply Same, Dn; rewrite EL; right; apply in_or_app; right; now left|now left;
        symmetry|].
      right. now apply ahead_back. }
  assert (RL : removelast (rev stL) = rev (A ++ [f])) by (rewrite EL; cbn [rev]; apply removelast_last).
  assert (RU : removelast (rev stU) = rev (A' ++ [f'])) by (rewrite EU; cbn [rev]; apply removelast_last).
  assert (SubL : forall z, In z (rev (A ++ [f])) -> In z stL) by (intros z Hz; apply in_rev in Hz; rewrite EL;
    now right).
  assert (SubU : forall z, In z (rev (A' ++ [f'])) -> In z stU) by (intros z Hz; apply in_rev in Hz; rewrite EU;
    now right).
  rewrite RL, RU. split.
  - apply in_turn_app.
    + assert (T : in_turn (rev stL)).
      { apply (in_turn_way 1); [apply L|]. intros a c z Ha Hc Hz H1 H2.
        apply (pair_beyond 1 One (rev S) stL L); auto. }
      rewrite EL in T. cbn [rev] in T. apply in_turn_delete in T. now rewrite app_nil_r in T.
    + assert (T : in_turn (rev stU)).
      { apply (in_turn_way (- (1))); [apply U|]. intros a c z Ha Hc Hz H1 H2.
        apply (pair_beyond (- (1)) Two (rev (rev S)) stU U); auto. apply Same. auto. }
      rewrite EU in T. cbn [rev] in T. apply in_turn_delete in T. now rewrite app_nil_r in T.
    + intros z Hz. assert (F : ForallOrdPairs (fun p q => 0 <= turn p q z) (rev stL)).
      { apply (fop_way 1 (rev S) stL L). intros a c Ha Hc H.
        apply (pair_and_other 1 (rev S) (rev (rev S)) stL stU); auto. }
      rewrite EL in F. cbn [rev] in F. apply fop_delete in F. now rewrite app_nil_r in F.
    + intros z Hz. assert (F : ForallOrdPairs (fun p q => 0 <= turn z p q) (rev stU)).
      { apply (fop_way (- (1)) (rev (rev S)) stU U). intros a c Ha Hc H. rewrite turn_round.
        apply (pair_and_other (- (1)) (rev (rev S)) (rev S) stU stL); auto; [intros; symmetry; apply Same|].
        now rewrite Ropp_involutive. }
      rewrite EU in F. cbn [rev] in F. apply fop_delete in F. now rewrite app_nil_r in F.
  - intros u v. destruct (M u v) as (s & Is & Gs).
    assert (X : exists h, (In h stL \/ In h stU) /\ u * fst s + v * snd s <= u * fst h + v * snd h).
    { destruct (Rle_dec v 0) as [V|V].
      - destruct (proj1 (proj2 (proj2 (proj2 L))) u v ltac:(lra) s (In0 s Is)) as (h & Hh & G). exists h. auto.
      - destruct (proj1 (proj2 (proj2 (proj2 U))) u v ltac:(lra) s) as (h & Hh & G); [apply Same; auto|]. exists h.
        auto. }
    destruct X as (h & Hh & G). exists h. split; [|lra]. apply in_or_app. rewrite <- !in_rev.
    rewrite EL, EU in Hh. rewrite Ef, Ef' in *. cbn [In] in Hh. rewrite !in_app_iff in *. cbn [In] in *. tauto.
Qed.
