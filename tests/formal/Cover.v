(* Covers that lie in each other, as verify.py checks them: its functions one by one, in real numbers, and what they
   return when they refuse nothing. Names are those of verify.py, without the underscore. *)
From Formal Require Export Peak Region Interval.
Require Export Bool.

(* Scores and target, c·var x = d·var y, in one frame. *)
Record pool := Pool { px : nat -> R; py : nat -> R; pc : R; pd : R }.

(* What stands on a part of a line: a saddle, a system with copies, or a cover of its own. *)
Inductive part :=
  | Saddle (h p q : R)
  | Copies (k : nat)
  | Cover (tilt : R) (saddles : list part) (cuts : list R).

(* A refusal is None. *)
Definition insist (condition : bool) (bound : option R) : option R :=
  if condition then bound else None.
Definition yes {A B : Prop} (x : {A} + {B}) := if x then true else false.

(* min and max of lists of numbers, and of lists of bounds. *)
Fixpoint lowest_of (l : list R) : R :=
  match l with [] => 0 | [v] => v | v :: l' => Rmin v (lowest_of l') end.
Fixpoint highest_of (l : list R) : R :=
  match l with [] => 0 | [v] => v | v :: l' => Rmax v (highest_of l') end.
Fixpoint least (l : list (option R)) : option R :=
  match l with
  | [] => None
  | [b] => b
  | b :: l' => match b, least l' with Some u, Some v => Some (Rmin u v) | _, _ => None end
  end.

Fixpoint in_order (line : list R) : bool :=
  match line with
  | l :: ((r :: _) as rest) => (yes (Rle_dec l r) && in_order rest)%bool
  | _ => true
  end.

(* zip(saddles, line[:-1], line[1:], strict=True) *)
Definition zipped (f : part -> R -> R -> option R) :=
  fix zipped (saddles : list part) (line : list R) : list (option R) :=
  match saddles, line with
  | saddle :: more, l :: ((r :: _) as rest) => f saddle l r :: zipped more rest
  | [], [_] => []
  | _, _ => [None]
  end.

Section Verify.
Variables (K : nat).

Definition height_at (P : pool) h p q k :=
  h + pc P * (px P k - p) ^ 2 - pd P * (py P k - q) ^ 2.

Definition copies_cell (P : pool) k left right : option R :=
  let away := Rmax (right - py P k) (py P k - left) in
  let free j := yes (Rlt_dec (pd P * Rabs (py P j - py P k) * away)
    (pd P * (py P j - py P k) ^ 2 - pc P * (px P j - px P k) ^ 2)) in
  let same j := (yes (Req_EM_T (px P j) (px P k))
    && yes (Req_EM_T (py P j) (py P k)))%bool in
  insist (forallb (fun j => same j || free j)%bool (seq 0 K)) (Some 1).

Definition cell (P : pool) (saddle : part) left right : option R :=
  match saddle with
  | Saddle h p q =>
      let height := h - pd P * Rmax (right - q) (q - left) ^ 2 in
      let z := positive (height_at P h p q) in
      let norm := dot K z z in
      insist (yes (Rlt_dec 0 height))
        (Some (if Req_EM_T norm 0 then 1 else height ^ 2 / norm))
  | Copies k => insist (k <? K)%nat (copies_cell P k left right)
  | Cover _ _ _ => None
  end.

Variables (x y : nat -> R) (c d : R).
(* The common denominators that _whole takes; any positive numbers would do. *)
Variables (length_of height_of : part -> R).

Definition places : region := map (fun k => (x k, y k)) (seq 0 K).
Definition frame t l h : pool :=
  Pool (fun k => (x k + t * d * y k) * l) (fun k => (y k + t * c * x k) * l)
    (c * h) (d * h).
Definition numbers l h (saddle : part) : part :=
  match saddle with
  | Saddle h' p q => Saddle (h' * (h * l ^ 2)) (p * l) (q * l)
  | _ => saddle
  end.
Definition along t l (m : point) := l * (snd m + t * c * fst m).
Definition strip t l (r : region) low high :=
  clipped r (t * c) (low / l) (high / l).

Definition covered inner t l h saddles line (r : region) : option R :=
  insist (in_order line) (least (zipped (fun saddle left right =>
    match saddle with
    | Cover _ _ _ =>
        let inside := match r with [] => hull places | _ => r end in
        inner saddle (strip t l inside left right)
    | _ => cell (frame t l h) (numbers l h saddle) left right
    end) saddles line)).

Fixpoint inner (cover : part) (r : region) : option R :=
  match cover with
  | Cover t saddles cuts =>
      let l := length_of cover in let h := height_of cover in
      let ys := map (py (frame t l h)) (seq 0 K) in
      let r := strip t l r (lowest_of ys) (highest_of ys) in
      let line := map (along t l) r in
      insist (yes (Rlt_dec (t * t * c * d) 1))
        (match r with
         | [] => Some 1
         | _ => covered inner t l h saddles
             (lowest_of line :: map (Rmult l) cuts ++ [highest_of line]) r
         end)
  | _ => None
  end.

(* The cover of the whole line: _covered as verify calls it. *)
Definition outer (cover : part) : option R :=
  match cover with
  | Cover t saddles cuts =>
      let l := length_of cover in let h := height_of cover in
      let ys := map (py (frame t l h)) (seq 0 K) in
      insist (yes (Rlt_dec (t * t * c * d) 1))
        (covered inner t l h saddles
          (lowest_of ys :: map (Rmult l) cuts ++ [highest_of ys]) [])
  | _ => None
  end.
End Verify.

(* --- what it proves --------------------------------------------------------------------------------------------- *)

Lemma insist_some k o P : insist k o = Some P -> k = true /\ o = Some P.
Proof. destruct k; cbn; [auto|discriminate]. Qed.

Lemma yes_true {A B : Prop} (s : {A} + {B}) : yes s = true -> A.
Proof. destruct s; [auto|discriminate]. Qed.

Lemma lowest_of_le l v : In v l -> lowest_of l <= v.
Proof.
  induction l as [|a [|b' l] IH]; intros H; [contradiction|destruct H as [->|[]]; cbn; lra|].
  change (lowest_of (a :: b' :: l)) with (Rmin a (lowest_of (b' :: l))).
  destruct H as [->|H]; [apply Rmin_l|]. apply Rle_trans with (lowest_of (b' :: l)); [apply Rmin_r|auto].
Qed.

Lemma highest_of_ge l v : In v l -> v <= highest_of l.
Proof.
  induction l as [|a [|b' l] IH]; intros H; [contradiction|destruct H as [->|[]]; cbn; lra|].
  change (highest_of (a :: b' :: l)) with (Rmax a (highest_of (b' :: l))).
  destruct H as [->|H]; [apply Rmax_l|]. apply Rle_trans with (highest_of (b' :: l)); [auto|apply Rmax_r].
Qed.

Lemma least_some l P : least l = Some P -> forall o, In o l -> exists u, o = Some u /\ P <= u.
Proof.
  revert P. induction l as [|a [|b' l] IH]; intros P E o H; [contradiction| |].
  - destruct H as [<-|[]]. exists P. split; [assumption|lra].
  - change (least (a :: b' :: l)) with (match a, least (b' :: l) with Some u, Some v => Some (Rmin u v) | _,
      _ => None end) in E.
    destruct a as [u|]; [|discriminate]. destruct (least (b' :: l)) as [v|]; [|discriminate]. injection E as <-.
    destruct H as [<-|H].
    + exists u. split; [reflexivity|apply Rmin_l].
    + destruct (IH v eq_refl o H) as (z & -> & Z). exists z. split; [reflexivity|].
      apply Rle_trans with v; [apply Rmin_r|assumption].
Qed.

(* A mean on a line lies on a part of it. *)
Lemma on_a_part f m P saddles : forall l rest, saddles <> [] ->
  (forall o, In o (zipped f saddles (l :: rest)) -> exists u, o = Some u /\ P <= u) ->
  l <= m <= last (l :: rest) 0 ->
  exists saddle left right u, In saddle saddles /\ f saddle left right = Some u /\ P <= u /\ left <= m <= right.
Proof.
  induction saddles as [|s saddles IH]; intros l rest N H B; [contradiction|]. destruct rest as [|r rest].
  - destruct (H None) as (u & E & _); [now left|discriminate].
  - cbn [zipped] in H. destruct (Rle_dec m r) as [L|L].
    + destruct (H (f s l r)) as (u & E & U); [now left|]. exists s, l, r, u. repeat split; auto; [now left|lra].
    + assert (B' : r <= m <= last (r :: rest) 0) by (change (last (l :: r :: rest) 0) with
        (last (r :: rest) 0) in B; lra).
      destruct saddles as [|s' saddles].
      * exfalso. destruct rest as [|r' rest]; [cbn in B'; lra|].
        destruct (H None) as (u & E & _); [right; now left|discriminate].
      * destruct (IH r rest ltac:(discriminate) (fun o Ho => H o (or_intror Ho)) B') as (a & b1 & b2 & u & Ia & X).
        exists a, b1, b2, u. split; [now right|assumption].
Qed.

Lemma mean_below K w z : weighting K w -> exists k, (k < K)%nat /\ mean K w z <= z k.
Proof.
  intros [W S].
  assert (X : K = 0%nat \/ exists k, (k < K)%nat /\ forall j, (j < K)%nat -> z j <= z k).
  { clear. induction K as [|n [->|(k & Hk & M)]]; [now left| |].
    - right. exists 0%nat. split; [lia|]. intros j Hj. replace j with 0%nat by lia. lra.
    - right. destruct (Rle_dec (z n) (z k)) as [L|L]; [exists k|exists n]; (split; [lia|]); intros j Hj;
        (destruct (Nat.eq_dec j n) as [->|]; [lra|specialize (M j ltac:(lia)); lra]). }
  destruct X as [->|(k & Hk & M)]; [cbn in S; lra|]. exists k. split; [assumption|].
  apply Rle_trans with (Σ j < K, z k * w j).
  - apply sum_le. intros j Hj. specialize (W j Hj). specialize (M j Hj). nra.
  - rewrite sum_scale, S. lra.
Qed.

Lemma mean_mix K w x y a b' : mean K w (fun k => a * x k + b' * y k) = a * mean K w x + b' * mean K w y.
Proof. unfold mean. termwise K. Qed.

Lemma mean_scaled K w x a : mean K w (fun k => a * x k) = a * mean K w x.
Proof. unfold mean. termwise K. Qed.

Lemma mean_between K w z : weighting K w -> lowest_of (map z (seq 0 K)) <= mean K w z <= highest_of (map z (seq 0 K)).
Proof.
  intros W. split.
  - destruct (mean_below K w (fun k => -1 * z k) W) as (k & Hk & M). rewrite mean_scaled in M.
    apply Rle_trans with (z k); [|lra]. apply lowest_of_le, in_map, in_seq. lia.
  - destruct (mean_below K w z W) as (k & Hk & M).
    apply Rle_trans with (z k); [assumption|]. apply highest_of_ge, in_map, in_seq. lia.
Qed.

(* All means lie among the systems. *)
Lemma means_inside K x y w : weighting K w -> inside (places K x y) (mean K w x, mean K w y).
Proof.
  intros W u v. cbn [fst snd]. destruct (mean_below K w (fun k => u * x k + v * y k) W) as (k & Hk & M).
  rewrite mean_mix in M. exists (x k, y k). split; [|exact M].
  unfold places. apply (in_map (fun k => (x k, y k))), in_seq. lia.
Qed.

(* One saddle, in a frame. *)
Lemma height_mean K P h p q w : weighting K w ->
  mean K w (height_at P h p q) = h + (pc P * var K w (px P) - pd P * var K w (py P))
    + pc P * (mean K w (px P) - p) ^ 2 - pd P * (mean K w (py P) - q) ^ 2.
Proof.
  intros [_ S].
  assert (E : mean K w (height_at P h p q)
    = h * sum K w + pc P * ((Σ k < K, w k * px P k ^ 2) - 2 * p * mean K w (px P) + p ^ 2 * sum K w)
      - pd P * ((Σ k < K, w k * py P k ^ 2) - 2 * q * mean K w (py P) + q ^ 2 * sum K w))
    by (unfold mean, height_at; termwise K).
  rewrite E, S. unfold var. ring.
Qed.

Definition on_target K (P : pool) w := pd P * var K w (py P) <= pc P * var K w (px P).

Lemma height_below K P h p q w : weighting K w -> 0 <= pc P -> on_target K P w ->
  h - pd P * (mean K w (py P) - q) ^ 2 <= dot K w (positive (height_at P h p q)).
Proof.
  intros W C T. pose proof (height_mean K P h p q w W) as E.
  pose proof (mean_positive K w (height_at P h p q) W) as M.
  assert (0 <= pc P * (mean K w (px P) - p) ^ 2) by (apply Rmult_le_pos; [assumption|apply pow2_ge_0]).
  unfold on_target in T. lra.
Qed.

Lemma away_from m q left right : left <= m <= right -> Rabs (m - q) <= Rmax (right - q) (q - left).
Proof.
  intros B. apply Rabs_le. pose proof (Rmax_l (right - q) (q - left)). pose proof (Rmax_r (right - q) (q - left)).
  lra.
Qed.

Lemma collision_dot K w : dot K w w = collision K w.
Proof. apply sum_ext. intros. ring. Qed.

Lemma saddle_cell K P h p q left right w B : weighting K w -> 0 <= pc P -> 0 <= pd P -> on_target K P w ->
  left <= mean K w (py P) <= right -> cell K P (Saddle h p q) left right = Some B -> B <= collision K w.
Proof.
  intros W C D T M E. unfold cell in E. apply insist_some in E. destruct E as [Hh E]. apply yes_true in Hh.
  set (height := h - pd P * Rmax (right - q) (q - left) ^ 2) in *. set (z := positive (height_at P h p q)) in *.
  pose proof (height_below K P h p q w W C T) as L. fold z in L.
  assert (S : (mean K w (py P) - q) ^ 2 <= Rmax (right - q) (q - left) ^ 2).
  { rewrite <- (pow2_abs (mean K w (py P) - q)). apply pow_incr. split; [apply Rabs_pos|now apply away_from]. }
  assert (Low : height <= dot K w z).
  { unfold height. assert (pd P * (mean K w (py P) - q) ^ 2 <= pd P * Rmax (right - q) (q - left) ^ 2)
      by now apply Rmult_le_compat_l. lra. }
  pose proof (cauchy_schwarz K w z) as CS. rewrite collision_dot in CS. pose proof (dot_self K z) as N.
  assert (Q : height ^ 2 <= collision K w * dot K z z) by nra.
  injection E as <-. destruct (Req_EM_T (dot K z z) 0) as [Z|Z].
  - rewrite Z in Q. nra.
  - apply Rmult_le_reg_r with (dot K z z); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by assumption. lra.
Qed.

(* Copies: no mean lies there, unless all weight is on them. *)
Lemma copies_alone K P k left right w B : weighting K w -> 0 <= pc P -> 0 <= pd P -> on_target K P w ->
  (k < K)%nat -> left <= mean K w (py P) <= right ->
  (exists j, (j < K)%nat /\ 0 < w j /\ ~ (px P j = px P k /\ py P j = py P k)) ->
  copies_cell K P k left right = Some B -> False.
Proof.
  intros W C D T Hk M (i & Hi & Wi & Ni) E. unfold copies_cell in E. apply insist_some in E. destruct E as [E _].
  set (away := Rmax (right - py P k) (py P k - left)) in *.
  set (u := fun j => px P j - px P k). set (v := fun j => py P j - py P k).
  assert (F : forall j, (j < K)%nat -> px P j = px P k /\ py P j = py P k
    \/ pd P * Rabs (v j) * away < pd P * v j ^ 2 - pc P * u j ^ 2).
  { intros j Hj. rewrite forallb_forall in E. specialize (E j ltac:(apply in_seq; lia)).
    apply orb_prop in E. destruct E as [E|E].
    - left. apply andb_prop in E. destruct E as [E1 E2]. split; [now apply yes_true in E1|now apply yes_true in E2].
    - right. now apply yes_true in E. }
  pose proof (height_mean K P 0 (px P k) (py P k) w W) as H.
  set (m := mean K w (py P) - py P k) in *.
  assert (Am : Rabs m <= away) by now apply away_from. pose proof (Rabs_pos m) as Pm.
  assert (Mv : mean K w v = m).
  { unfold mean at 1. unfold v, m. rewrite (sum_ext K _ (fun j => w j * py P j + - py P k * w j)) by (intros; ring).
    rewrite sum_plus, sum_scale, (proj2 W). unfold mean. ring. }
  assert (Abs : Rabs m <= (Σ j < K, w j * Rabs (v j))).
  { rewrite <- Mv. unfold mean. destruct W as [W _]. clear - W.
    induction K as [|n IH]; cbn [sum]; [rewrite Rabs_R0; lra|].
    apply Rle_trans with (1 := Rabs_triang _ _). rewrite Rabs_mult, (Rabs_pos_eq (w n)) by (apply W; lia).
    apply Rplus_le_compat_r, IH. intros j Hj. apply W. lia. }
  assert (Lt : (Σ j < K, w j * (pd P * Rabs (v j) * away)) < (Σ j < K, w j * (pd P * v j ^ 2 - pc P * u j ^ 2))).
  { assert (G : forall j, (j < K)%nat ->
      0 <= w j * (pd P * v j ^ 2 - pc P * u j ^ 2) + -1 * (w j * (pd P * Rabs (v j) * away))).
    { intros j Hj. pose proof (proj1 W j Hj) as Wj. destruct (F j Hj) as [[E1 E2]|L].
      - unfold u, v. rewrite E1, E2. replace (px P k - px P k) with 0 by ring.
        replace (py P k - py P k) with 0 by ring.
        rewrite Rabs_R0. lra.
      - assert (0 <= w j * (pd P * v j ^ 2 - pc P * u j ^ 2 - pd P * Rabs (v j) * away)) by (apply Rmult_le_pos;
          lra). lra. }
    pose proof (sum_term K _ G i Hi) as St. cbv beta in St. rewrite sum_plus, sum_scale in St.
    destruct (F i Hi) as [X|L]; [contradiction|].
    assert (0 < w i * (pd P * v i ^ 2 - pc P * u i ^ 2 - pd P * Rabs (v i) * away)) by (apply Rmult_lt_0_compat;
      lra). lra. }
  rewrite (sum_ext K (fun j => w j * (pd P * Rabs (v j) * away)) (fun j => pd P * away * (w j * Rabs (v j)))) in Lt
    by (intros; ring). rewrite sum_scale in Lt.
  assert (Hm : mean K w (height_at P 0 (px P k) (py P k)) = - (Σ j < K, w j * (pd P * v j ^ 2 - pc P * u j ^ 2))).
  { transitivity (-1 * (Σ j < K, w j * (pd P * v j ^ 2 - pc P * u j ^ 2))); [|ring].
    rewrite <- sum_scale. apply sum_ext. intros. unfold height_at, u, v. ring. }
  assert (0 <= pc P * (mean K w (px P) - px P k) ^ 2) by (apply Rmult_le_pos; [assumption|apply pow2_ge_0]).
  unfold on_target in T. rewrite Hm in H.
  assert (X1 : pd P * away * Rabs m <= pd P * away * (Σ j < K, w j * Rabs (v j)))
    by (apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|assumption]).
  assert (X2 : pd P * m ^ 2 <= pd P * away * Rabs m).
  { rewrite <- (pow2_abs m). replace (pd P * Rabs m ^ 2) with (pd P * (Rabs m * Rabs m)) by ring.
    rewrite Rmult_assoc. apply Rmult_le_compat_l; [assumption|]. now apply Rmult_le_compat_r. }
  lra.
Qed.

Lemma part_nested (Q : part -> Prop) : (forall h p q, Q (Saddle h p q)) -> (forall k, Q (Copies k)) ->
  (forall t saddles cuts, Forall Q saddles -> Q (Cover t saddles cuts)) -> forall p, Q p.
Proof.
  intros A B C. fix IH 1. intros [h p q|k|t saddles cuts]; [apply A|apply B|apply C].
  induction saddles as [|s l IHl]; constructor; [apply IH|assumption].
Qed.

Section Sound.
Variables (K : nat) (x y : nat -> R) (c d : R) (length_of height_of : part -> R) (w : nat -> R).
Hypothesis (C : 0 <= c) (D : 0 <= d) (Units : forall p, 0 < length_of p /\ 0 < height_of p).
Hypothesis (W : weighting K w) (S : 0 < spread K x y w) (T : d * var K w y <= c * var K w x).

Definition means : point := (mean K w x, mean K w y).

Lemma frame_mean t l h : mean K w (py (frame x y c d t l h)) = along c t l means.
Proof using Type.
  unfold along, means. cbn [frame py fst snd].
  transitivity (mean K w (fun k => l * y k + l * (t * c) * x k)); [apply sum_ext; intros; ring|]. rewrite mean_mix.
  ring.
Qed.

(* The tilt multiplies c·var x − d·var y by a positive number. *)
Lemma frame_target t l h : t * t * c * d < 1 -> 0 < l -> 0 < h -> on_target K (frame x y c d t l h) w.
Proof using T.
  intros Ht Hl Hh. unfold on_target. cbn [frame px py pc pd]. apply Rminus_le.
  assert (E : d * h * var K w (fun k => (y k + t * c * x k) * l) - c * h * var K w (fun k => (x k + t * d * y k) * l)
    = h * l ^ 2 * (1 - t * t * c * d) * (d * var K w y - c * var K w x)).
  { unfold var.
    assert (M1 : mean K w (fun k => (y k + t * c * x k) * l) = l * (mean K w y + t * c * mean K w x))
      by (unfold mean; termwise K).
    assert (M2 : mean K w (fun k => (x k + t * d * y k) * l) = l * (mean K w x + t * d * mean K w y))
      by (unfold mean; termwise K).
    assert (Q1 : (Σ k < K, w k * ((y k + t * c * x k) * l) ^ 2) = l ^ 2 * ((Σ k < K, w k * y k ^ 2)
      + 2 * t * c * (Σ k < K, w k * (x k * y k)) + (t * c) ^ 2 * (Σ k < K, w k * x k ^ 2))) by termwise K.
    assert (Q2 : (Σ k < K, w k * ((x k + t * d * y k) * l) ^ 2) = l ^ 2 * ((Σ k < K, w k * x k ^ 2)
      + 2 * t * d * (Σ k < K, w k * (x k * y k)) + (t * d) ^ 2 * (Σ k < K, w k * y k ^ 2))) by termwise K.
    rewrite M1, M2, Q1, Q2. ring. }
  rewrite E. assert (0 < l ^ 2) by now apply pow_lt.
  assert (0 < h * l ^ 2 * (1 - t * t * c * d)) by (repeat apply Rmult_lt_0_compat; lra). nra.
Qed.

(* Systems that coincide in one frame coincide. *)
Lemma frame_apart t l h k : t * t * c * d < 1 -> 0 < l ->
  exists j, (j < K)%nat /\ 0 < w j /\ ~ (px (frame x y c d t l h) j = px (frame x y c d t l h) k
    /\ py (frame x y c d t l h) j = py (frame x y c d t l h) k).
Proof using S W.
  intros Ht Hl. destruct (spread_needs_pair K x y w W S) as (i & j & ((L & Dist) & Wi & Wj)).
  set (F := frame x y c d t l h).
  assert (G : forall i, px F i = px F k /\ py F i = py F k -> x i = x k /\ y i = y k).
  { intros n [E1 E2]. cbn [F frame px py] in E1, E2. apply Rmult_eq_reg_r in E1; [|lra].
    apply Rmult_eq_reg_r in E2; [|lra].
    assert (Z : (1 - t * t * c * d) * (x n - x k) = 0).
    { transitivity ((x n + t * d * y n) - (x k + t * d * y k) - t * d * ((y n + t * c * x n) - (y k + t * c * x
        k))); [ring|].
      rewrite E1, E2. ring. }
    apply Rmult_integral in Z. destruct Z as [Z|Z]; [lra|]. assert (X : x n = x k) by lra. split; [assumption|].
    rewrite X in E2. lra. }
  destruct (Req_EM_T (px F i) (px F k)) as [E1|N1]; [destruct (Req_EM_T (py F i) (py F k)) as [E2|N2]|].
  - exists j. split; [lia|]. split; [assumption|]. intros H. apply G in H. destruct (G i (conj E1 E2)) as [X Y].
    destruct H as [X' Y']. unfold distance in Dist. rewrite X, Y, X', Y' in Dist. lra.
  - exists i. split; [lia|]. split; [assumption|]. tauto.
  - exists i. split; [lia|]. split; [assumption|]. tauto.
Qed.

Lemma hull_means : in_turn (hull (places K x y)) /\ inside (hull (places K x y)) means.
Proof using S W.
  destruct (spread_needs_pair K x y w W S) as (i & j & ((L & Dist) & Wi & Wj)).
  assert (I : forall k, (k < K)%nat -> In (x k, y k) (places K x y))
    by (intros; apply (in_map (fun k => (x k, y k))), in_seq; lia).
  apply (hull_holds_all _ (x i, y i) (x j, y j)); [apply I; lia|apply I; lia| |now apply means_inside].
  intros E. injection E as E1 E2. unfold distance in Dist. rewrite E1, E2 in Dist. lra.
Qed.

Lemma strip_means t l r low high : 0 < l -> in_turn r -> inside r means -> low <= along c t l means <= high ->
  in_turn (strip c t l r low high) /\ inside (strip c t l r low high) means.
Proof using Type.
  intros Hl Tr Ir B. apply clipped_loses_nothing; [assumption|assumption|]. unfold along in B.
  split; (apply Rmult_le_reg_l with l; [assumption|]); unfold Rdiv; rewrite (Rmult_comm _ (/ l)), <- Rmult_assoc,
    Rinv_r; lra.
Qed.

(* One line, if what lies in it is sound. *)
Lemma covered_sound into t l h saddles first cuts final r P :
  t * t * c * d < 1 -> 0 < l -> 0 < h ->
  Forall (fun s => forall r P, in_turn r -> inside r means -> into s r = Some P -> P <= collision K w) saddles ->
  first <= along c t l means <= final -> (r = [] \/ in_turn r /\ inside r means) ->
  covered K x y c d into t l h saddles (first :: cuts ++ [final]) r = Some P -> P <= collision K w.
Proof using C D S W T.
  intros Ht Hl Hh F B Hr E. unfold covered in E. apply insist_some in E. destruct E as [_ E].
  assert (B' : first <= along c t l means <= last (first :: cuts ++ [final]) 0).
  { change (first :: cuts ++ [final]) with ((first :: cuts) ++ [final]). now rewrite last_last. }
  destruct saddles as [|s0 saddles]; [destruct cuts; cbn in E; discriminate|].
  destruct (on_a_part _ (along c t l means) P (s0 :: saddles) first (cuts ++ [final]) ltac:(discriminate)
    (least_some _ _ E) B')
    as (s & lo & hi & u & Is & Es & Pu & Bs).
  apply Rle_trans with u; [assumption|]. clear E Pu P. rewrite Forall_forall in F. specialize (F s Is).
  pose proof (frame_target t l h Ht Hl Hh) as Ft.
  assert (C' : 0 <= pc (frame x y c d t l h)) by (cbn; apply Rmult_le_pos; lra).
  assert (D' : 0 <= pd (frame x y c d t l h)) by (cbn; apply Rmult_le_pos; lra).
  pose proof Bs as Bm. rewrite <- (frame_mean t l h) in Bm. destruct s as [h' p q|k|t' ss' cuts'].
  - cbn [numbers] in Es. now apply (saddle_cell K (frame x y c d t l h) _ _ _ lo hi w u W C' D' Ft Bm Es).
  - cbn [numbers cell] in Es. apply insist_some in Es. destruct Es as [Hk Es]. apply Nat.ltb_lt in Hk.
    exfalso. apply (copies_alone K (frame x y c d t l h) k lo hi w u W C' D' Ft Hk Bm); [|assumption].
    now apply frame_apart.
  - cbv zeta in Es.
    assert (I : in_turn (match r with [] => hull (places K x y) | _ => r end)
      /\ inside (match r with [] => hull (places K x y) | _ => r end) means).
    { destruct Hr as [->|Hr]; [apply hull_means|]. destruct r; [apply hull_means|assumption]. }
    destruct (strip_means t l _ lo hi Hl (proj1 I) (proj2 I) Bs) as [I1 I2]. now apply F in Es.
Qed.

Lemma inner_sound cover : forall r P, in_turn r -> inside r means ->
  inner K x y c d length_of height_of cover r = Some P -> P <= collision K w.
Proof using C D S W T Units.
  induction cover as [h p q|k|t saddles cuts F] using part_nested; intros r P Tr Ir E; try discriminate.
  cbn [inner] in E. fold (inner K x y c d length_of height_of) in E. cbv zeta in E.
  apply insist_some in E. destruct E as [Ht E]. apply yes_true in Ht.
  set (cover := Cover t saddles cuts) in *. destruct (Units cover) as [Hl Hh].
  set (l := length_of cover) in *. set (h := height_of cover) in *.
  pose proof (mean_between K w (py (frame x y c d t l h)) W) as B. rewrite frame_mean in B.
  set (ys := map (py (frame x y c d t l h)) (seq 0 K)) in *.
  destruct (strip_means t l r _ _ Hl Tr Ir B) as [T2 I2]. set (r2 := strip c t l r (lowest_of ys) (highest_of ys))
    in *.
  clearbody r2. destruct r2 as [|p0 r2]; [destruct (I2 0 0) as (p & [] & _)|].
  revert E. apply covered_sound; auto. split.
  - destruct (I2 (- (l * (t * c))) (- l)) as (p & Ip & G).
    apply Rle_trans with (along c t l p); [apply lowest_of_le; now apply in_map|]. unfold along. lra.
  - destruct (I2 (l * (t * c)) l) as (p & Ip & G).
    apply Rle_trans with (along c t l p); [|apply highest_of_ge; now apply in_map]. unfold along. lra.
Qed.

Lemma outer_sound cover P : outer K x y c d length_of height_of cover = Some P -> P <= collision K w.
Proof using C D S W T Units.
  destruct cover as [h p q|k|t saddles cuts]; try discriminate. cbn [outer]. cbv zeta. intros E.
  apply insist_some in E. destruct E as [Ht E]. apply yes_true in Ht.
  set (cover := Cover t saddles cuts) in *. destruct (Units cover) as [Hl Hh].
  revert E. apply covered_sound; auto.
  - apply Forall_forall. intros s _. apply inner_sound.
  - rewrite <- (frame_mean t (length_of cover) (height_of cover)). now apply mean_between.
Qed.
End Sound.

(* What one saddle excludes, in any frame. *)
Theorem every_frame_excludes : forall K x y c d t l h h' p q w,
  0 <= c -> 0 <= d -> t * t * c * d < 1 -> 0 < l -> 0 < h ->
  weighting K w -> d * var K w y <= c * var K w x ->
  let P := frame x y c d t l h in
  pd P * (mean K w (py P) - q) ^ 2
  >= h' - norm K (positive (height_at P h' p q)) * sqrt (collision K w).
Proof.
  intros K x y c d t l h h' p q w C D Ht Hl Hh W T P.
  assert (C' : 0 <= pc P) by (cbn; apply Rmult_le_pos; lra).
  pose proof (height_below K P h' p q w W C' (frame_target K x y c d w T t l h Ht Hl Hh)) as L.
  pose proof (dot_norms K w (positive (height_at P h' p q))) as N. rewrite norm_collision in N. lra.
Qed.

(* Copies: in a part of the line around them, only they have weight. *)
Theorem copies_exclude : forall K P k left right w,
  0 <= pc P -> 0 <= pd P -> (k < K)%nat ->
  copies_cell K P k left right = Some 1 ->
  weighting K w -> pd P * var K w (py P) <= pc P * var K w (px P) ->
  left <= mean K w (py P) <= right ->
  forall j, (j < K)%nat -> 0 < w j -> px P j = px P k /\ py P j = py P k.
Proof.
  intros K P k left right w C D Hk E W T M j Hj Wj.
  destruct (Req_EM_T (px P j) (px P k)); [destruct (Req_EM_T (py P j) (py P k)); [auto|]|];
    exfalso; apply (copies_alone K P k left right w 1 W C D T Hk M); auto; exists j; tauto.
Qed.

(* If a cover is accepted, no weighting that reaches the target, or overshoots it, has a smaller Σw². *)
Theorem nested_covers : forall K x y c d length_of height_of cover P w,
  0 <= c -> 0 <= d -> (forall p, 0 < length_of p /\ 0 < height_of p) ->
  outer K x y c d length_of height_of cover = Some P ->
  weighting K w -> 0 < spread K x y w -> d * var K w y <= c * var K w x ->
  P <= collision K w.
Proof. intros. now apply (outer_sound K x y c d length_of height_of w) with cover. Qed.

(* The same inside a region, for a cover that stands in another. *)
Theorem covers_inside : forall K x y c d length_of height_of cover r P w,
  0 <= c -> 0 <= d -> (forall p, 0 < length_of p /\ 0 < height_of p) ->
  inner K x y c d length_of height_of cover r = Some P -> in_turn r ->
  weighting K w -> 0 < spread K x y w -> d * var K w y <= c * var K w x ->
  inside r (mean K w x, mean K w y) ->
  P <= collision K w.
Proof. intros. now apply (inner_sound K x y c d length_of height_of w) with cover r. Qed.

(* A share of the weight that goes to system k puts a weighting on the target. *)
Theorem moved_onto_target : forall K a f t w k,
  weighting K w -> (k < K)%nat ->
  let g := around K a f t w k in let share := - b K a f t w / g in
  b K a f t w * g < 0 -> share <= 1 ->
  let v := fun j => (1 - share) * w j + share * at_ k j in
  weighting K v /\ b K a f t v = 0
  /\ (0 < spread K a f v -> reaches K a f t v).
Proof.
  intros K a f t w k W Hk g s N L v.
  assert (Ng : g <> 0) by (intros E; rewrite E in N; lra).
  assert (Ps : 0 <= s).
  { unfold s. replace (- b K a f t w / g) with (- (b K a f t w * g) * / g ^ 2) by (field; assumption).
    apply Rmult_le_pos; [lra|]. apply Rlt_le, Rinv_0_lt_compat. now apply square_positive. }
  assert (M : forall x, (Σ j < K, v j * x j) = (1 - s) * (Σ j < K, w j * x j) + s * x k).
  { intros x. rewrite <- (sum_at K k x Hk), <- !sum_scale, <- sum_plus. apply sum_ext. intros. unfold v. ring. }
  assert (X : weighting K v /\ b K a f t v = 0);
    [|split; [apply X|split; [apply X|intros; apply reaches_iff; [apply X|assumption|apply X]]]].
  split.
  - split.
    + intros j Hj. pose proof (proj1 W j Hj). unfold v, at_. destruct (Nat.eq_dec j k); nra.
    + rewrite (sum_ext K v (fun j => v j * 1)) by (intros; ring). rewrite (M (fun _ => 1)).
      rewrite (sum_ext K (fun j => w j * 1) w), (proj2 W) by (intros; ring). ring.
  - assert (V : forall x, var K v x = (1 - s) * var K w x + s * (1 - s) * (x k - mean K w x) ^ 2).
    { intros x. unfold var, mean. rewrite (M x), (M (fun j => x j ^ 2)). ring. }
    assert (E : b K a f t v = (1 - s) * (b K a f t w + s * g)).
    { unfold b. rewrite !V. unfold g, around. ring. }
    rewrite E. unfold s. field. assumption.
Qed.

(* What verify returns, where a proof has cuts: the bounds are 1/K and the cover's. *)
Theorem verified_gap :
  forall K a f t v (above : bool) length_of height_of cover P,
  0 <= t <= 1 -> (forall p, 0 < length_of p /\ 0 < height_of p) ->
  (if above then outer K a f (1 - t) t length_of height_of cover
   else outer K f a t (1 - t) length_of height_of cover) = Some P ->
  reaches K a f t v ->
  let gap := 1 - Rmax (1 / INR K) P / collision K v in
  0 <= gap
  /\ (forall w, reaches K a f t w ->
      (1 - gap) * collision K v <= collision K w)
  /\ (gap = 0 -> optimal K a f t v).
Proof.
  intros K a f t v above lo ho cover P Ht Hu E V gap.
  assert (All : forall w, reaches K a f t w -> Rmax (1 / INR K) P <= collision K w).
  { intros w R. apply Rmax_lub; [apply collision_at_least; [now apply (reaches_some K a f t w)|apply R]|].
    pose proof (reaches_b K a f t w R) as B. destruct R as (W & S & _). unfold b in B. destruct above.
    - apply (nested_covers K a f (1 - t) t lo ho cover P w); auto; lra.
    - apply (nested_covers K f a t (1 - t) lo ho cover P w); auto; try lra. unfold spread in *. lra. }
  assert (Pv : 0 < collision K v).
  { pose proof (reaches_some K a f t v V) as HK. pose proof (collision_at_least K v HK (proj1 V)).
    pose proof (INR_K K HK). assert (0 < 1 / INR K) by (apply Rdiv_lt_0_compat; lra). lra. }
  assert (G : (1 - gap) * collision K v = Rmax (1 / INR K) P) by (unfold gap; field; lra).
  pose proof (All v V) as Av. split; [|split].
  - rewrite <- G in Av. nra.
  - intros w R. rewrite G. auto.
  - intros Z. split; [assumption|]. intros w R. rewrite Z in G. specialize (All w R). lra.
Qed.

(* Nothing of this is empty: two systems on a line, and a cover in a cover of them, step by step. A test asks verify.py
   for the same number. *)
Definition line_of_two (k : nat) := match k with 0%nat => 0 | _ => 1 end.

Ltac decide_all := repeat match goal with
  | |- context [Rlt_dec ?a ?b] => destruct (Rlt_dec a b); try (exfalso; lra)
  | |- context [Rle_dec ?a ?b] => destruct (Rle_dec a b); try (exfalso; lra)
  end.

Theorem a_cover_in_a_cover :
  outer 2 line_of_two line_of_two (1 / 2) (1 / 2) (fun _ => 1) (fun _ => 1)
    (Cover 0 [Cover 0 [Saddle 1 (1 / 2) (1 / 2)] []] []) = Some (49 / 128).
Proof.
  set (xs := line_of_two). assert (H : hull (places 2 xs xs) = [(0, 0); (1, 1)]).
  { unfold places. cbn [map seq xs line_of_two]. unfold hull, sorted_set. cbn [fold_right insert].
    destruct (before_dec (0, 0) (1, 1)) as [B|B]; [reflexivity|exfalso; apply B; left; cbn; lra]. }
  assert (C : clipped [(0, 0); (1, 1)] 0 (0 / 1) (1 / 1) = [(0, 0); (1, 1)]).
  { replace (0 / 1) with 0 by lra. replace (1 / 1) with 1 by lra.
    unfold clipped, cut_off, edges, kept, over. cbn [combine tl firstn app flat_map fst snd]. decide_all.
    cbn [app combine flat_map tl firstn fst snd]. decide_all. reflexivity. }
  assert (Lo : Rmin ((0 + 0 * (1 / 2) * 0) * 1) ((1 + 0 * (1 / 2) * 1) * 1) = 0) by (rewrite Rmin_left; lra).
  assert (Hi : Rmax ((0 + 0 * (1 / 2) * 0) * 1) ((1 + 0 * (1 / 2) * 1) * 1) = 1) by (rewrite Rmax_right; lra).
  unfold outer, insist, yes. decide_all. unfold covered, insist, in_order, yes.
  cbn [map seq frame py xs line_of_two lowest_of highest_of app]. rewrite Lo, Hi. decide_all. cbn [andb zipped least].
  unfold strip. fold xs. rewrite H. replace (0 * (1 / 2)) with 0 by lra. rewrite C. cbn [inner]. unfold insist, yes.
  decide_all. unfold strip. cbn [map seq frame py xs line_of_two lowest_of highest_of app]. rewrite Lo, Hi.
  replace (0 * (1 / 2)) with 0 by lra. rewrite C. cbn [map lowest_of highest_of app]. unfold along. cbn [fst snd].
  replace (Rmin _ _) with 0 by (rewrite Rmin_left; lra). replace (Rmax _ _) with 1 by (rewrite Rmax_right; lra).
  unfold covered, insist, in_order, yes. decide_all. cbn [andb zipped least numbers cell]. unfold insist, yes. fold xs.
  cbn [frame pd pc px py]. replace (Rmax _ _) with (1 / 2) by (rewrite Rmax_left; lra). decide_all.
  set (z := positive _).
  assert (N : dot 2 z z = 2) by (unfold dot, z, positive, height_at; cbn [sum frame px py pc pd xs line_of_two];
    rewrite !Rmax_right by lra; lra).
  rewrite N. destruct (Req_EM_T 2 0); [exfalso; lra|]. f_equal. lra.
Qed.
