(* A polynomial with n coefficients that is not zero everywhere has fewer than n roots; and a few facts about lists. *)
Require Export Reals Lra Lia Psatz List.
Export ListNotations.
Open Scope R_scope.

(* Coefficients, the constant first. *)
Fixpoint value (p : list R) x : R := match p with [] => 0 | c :: p => c + x * value p x end.

Lemma divide p r : exists q, length q = pred (length p) /\ forall x, value p x = value p r + (x - r) * value q x.
Proof.
  induction p as [|c p (q & L & E)]; [exists []; split; [reflexivity|intros; simpl; ring]|].
  destruct p as [|c' p]; [exists []; split; [reflexivity|intros; simpl; ring]|].
  exists (value (c' :: p) r :: q). split; [cbn [length pred] in *; lia|].
  intros x. cbn [value] in *. rewrite E. ring.
Qed.

Theorem few_roots : forall p y l, value p y <> 0 -> NoDup l ->
  (forall r, In r l -> value p r = 0) -> (length l < length p)%nat.
Proof.
  intros p y l. revert p. induction l as [|r l IH]; intros p Y N Z.
  - destruct p; [now destruct Y|simpl; lia].
  - destruct (divide p r) as (q & L & E). rewrite (Z r) in E by now left.
    inversion N as [|? ? Nr Nl]. subst.
    assert (length l < length q)%nat; [|simpl; lia].
    apply IH; [|assumption|].
    + intros Q. apply Y. rewrite E, Q. ring.
    + intros x Hx. specialize (Z x (or_intror Hx)). rewrite E, Rplus_0_l in Z. apply Rmult_integral in Z.
      destruct Z as [Z|Z]; [|assumption]. assert (x = r) by lra. now subst.
Qed.

(* What is told apart by h is told apart by g, if g decides h. *)
Lemma NoDup_decides {A B C} (g : A -> B) (h : A -> C) l :
  (forall x y, In x l -> In y l -> g x = g y -> h x = h y) -> NoDup (map h l) -> NoDup (map g l).
Proof.
  induction l as [|x l IH]; intros D N; [constructor|]. simpl in *. inversion N as [|? ? Nx Nl]. subst. constructor.
  - intros I. apply Nx. apply in_map_iff in I as (y & E & Iy). apply in_map_iff. exists y. split; [|assumption].
    apply D; auto.
  - apply IH; auto.
Qed.

Lemma NoDup_filter_map {A B} (h : A -> B) p l : NoDup (map h l) -> NoDup (map h (filter p l)).
Proof.
  induction l as [|x l IH]; intros N; [constructor|]. simpl in *. inversion N as [|? ? Nx Nl]. subst.
  destruct (p x); [|now apply IH]. simpl. constructor; [|now apply IH].
  intros I. apply Nx. apply in_map_iff in I as (y & E & Iy). apply filter_In in Iy as [Iy _]. apply in_map_iff.
  now exists y.
Qed.

Lemma NoDup_join {A} (l m : list A) : NoDup l -> NoDup m -> (forall x, In x l -> ~ In x m) -> NoDup (l ++ m).
Proof.
  intros L M D. induction l as [|x l IH]; [assumption|]. inversion L as [|? ? Nx Nl]. subst. simpl. constructor.
  - rewrite in_app_iff. intros [I|I]; [contradiction|]. now apply (D x (or_introl eq_refl)).
  - apply IH; [assumption|]. intros y I. apply D. now right.
Qed.

Lemma split_length {A} (p : A ->
  bool) l : length l = (length (filter p l) + length (filter (fun x => negb (p x)) l))%nat.
Proof. induction l as [|x l IH]; [reflexivity|]. simpl. destruct (p x); simpl; lia. Qed.

(* Where only one value is possible, or only a number and its opposite, the list is short. *)
Lemma at_most_one {A B} (h : A -> B) l : (forall x y, In x l -> In y l -> h x = h y) -> NoDup (map h l) ->
  (length l <= 1)%nat.
Proof.
  intros E N. destruct l as [|x [|y l]]; simpl; try lia. simpl in N. inversion N as [|? ? Nx _]. exfalso. apply Nx.
  left. apply E; simpl; auto.
Qed.

Lemma at_most_two {A B} (h : A -> B) (x : A -> R) z l :
  (forall p, In p l -> x p ^ 2 = z) -> (forall p q, In p l -> In q l -> x p = x q -> h p = h q) ->
  NoDup (map h l) -> (length l <= 2)%nat.
Proof.
  intros S E N. destruct l as [|p [|q [|r l]]]; simpl; try lia. exfalso. simpl in N.
  inversion N as [|? ? Np Nq]. subst. inversion Nq as [|? ? Nr _]. subst.
  assert (P : x p ^ 2 = z) by (apply S; simpl; auto). assert (Q : x q ^ 2 = z) by (apply S; simpl; auto).
  assert (R : x r ^ 2 = z) by (apply S; simpl; auto).
  assert (PQ : x p <> x q) by (intros Z; apply Np; left; symmetry; apply E; simpl; auto).
  assert (PR : x p <> x r) by (intros Z; apply Np; right; left; symmetry; apply E; simpl; auto).
  assert (QR : x q <> x r) by (intros Z; apply Nr; left; symmetry; apply E; simpl; auto).
  assert (x p + x q = 0) by (apply Rmult_eq_reg_l with (x p - x q); [nra|lra]).
  assert (x p + x r = 0) by (apply Rmult_eq_reg_l with (x p - x r); [nra|lra]). lra.
Qed.
