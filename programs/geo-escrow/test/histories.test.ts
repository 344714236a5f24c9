import {
	type AttestationKind,
	closeRecord,
	expireOrder,
	fillOrder,
	type Order,
	openOrder,
	orderId,
	prepareOrder,
	voidOrder,
} from "@geoswap/protocol";
import type { Instruction } from "@solana/kit";
import { expect, test } from "vitest";
import { amountFor, createHistory, isFromSolana, signerCount } from "./history.ts";
import { isNative, tokensOf, writes } from "./test-helpers.ts";

const isFull = Boolean(process.env.GEOSWAP_FULL);
const seed = Number(process.env.GEOSWAP_SEED) % 1_000_000;
const count = isFull ? 40 : 2;
const steps = isFull ? 300 : 100;

/** The effect of a step that succeeds. A step with the outcome `stolen` must never succeed. */
type Outcome =
	| "opened"
	| "filled"
	| "voided"
	| "released"
	| "refunded"
	| "paid vault"
	| "paid wallet"
	| "closed"
	| "stolen"
	| undefined;
type Action = (order: Order) => Promise<[Instruction[], Outcome]>;

test.for(Array.from({ length: count }, (_, i) => seed + i))(
	"whatever operators, attesters, wallets and a thief do in any order, no unit is lost, each order ends once, and all rent returns (%i)",
	{ timeout: 600_000 },
	async (one) => {
		const history = await createHistory(one);
		const { scene, any, pick, newOrder } = history;
		const { program, payer, operator, thief } = scene;
		const holders = [scene.wallet.address, scene.vault, scene.recipient.address, thief.address];
		const orders: Order[] = [];
		const held = async () => {
			const tokens = await Promise.all(holders.map((of) => scene.tokens(of)));
			return tokens.reduce((sum, amount) => sum + amount, await history.tokensInInputs(orders));
		};
		const supply = await held();
		const sol = { payer: scene.balance(payer.address), vault: scene.balance(scene.vault) };
		let fees = 0n;
		let [solOut, solIn] = [0n, 0n];
		const outcomes = new Map<string, Set<Outcome>>();

		const fill: Action = async (order) => [
			[await fillOrder(program, order, { operator, amount: amountFor(order) })],
			isFromSolana(order) ? "released" : "filled",
		];
		const open: Action = async (order) => [await scene.opening(order), "opened"];
		const decide =
			(kind: AttestationKind): Action =>
			async (order) => [[await scene.decision(kind, [order])], kind === "Release" ? "released" : "refunded"];
		const expire =
			(by?: Parameters<typeof expireOrder>[2]): Action =>
			async (order) => [[await expireOrder(program, orderId(order), by)], "refunded"];
		const pay =
			(to: "vault" | "wallet"): Action =>
			async (order) => [[await scene.payTo(to, order)], `paid ${to}`];
		const close: Action = async (order) => [
			[await closeRecord(program, orderId(order), scene.vault)],
			"closed",
		];
		const closeOrder: Action = async (order) => [[await scene.closing(order)], "closed"];
		const actions: Action[] = [
			...[open, open, open, open, fill, fill, decide("Release"), decide("Release"), decide("Refund")],
			...[expire(), expire({ vault: scene.vault, operator }), pay("vault"), pay("wallet"), close, closeOrder],
			async (order) => [[await prepareOrder(program, order, payer)], undefined],
			async (order) => [[await openOrder(program, order)], "stolen"],
			async (order) => [[await scene.decision("Release", [order], scene.keys.slice(0, 1))], "stolen"],
			async (order) => [
				[await fillOrder(program, order, { operator: thief, amount: amountFor(order) })],
				"stolen",
			],
			async (order) => [[await voidOrder(program, order, operator)], "voided"],
			async (order) => [
				[
					...(await scene.opening(order)),
					await scene.decision("Refund", [order]),
					await scene.payTo("wallet", order),
				],
				"refunded",
			],
			async (order) => {
				const paying = await scene.payTo(pick(["vault", "wallet"]), order);
				const accounts = [...(paying.accounts ?? [])];
				const at = 1 + any(accounts.length - 1);
				const tokens = await tokensOf(thief.address, scene.mint.address);
				const other = pick([thief.address, tokens, scene.vault]);
				const isVault = at === 1 && other === scene.vault && isNative(order.inputToken);
				const isSame = accounts[at]?.address === other || isVault;
				accounts[at] = writes(other);
				// The Token program's account is not used here, so any account may be in its place.
				return [[{ ...paying, accounts }], isSame || at === 3 ? undefined : "stolen"];
			},
		];

		async function attempt(order: Order, action: Action): Promise<void> {
			const [instructions, wanted] = await action(order);
			const isPayment = instructions.length === 1 && instructions[0]?.data?.[0] === 4;
			// The payment of an order whose input never came moves nothing, regardless of the account that it names.
			const isEmpty = !isNative(order.inputToken) && (await history.tokensInInputs([order])) === 0n;
			const outcome = isPayment && isEmpty ? undefined : wanted;
			const [payerBefore, vaultBefore] = [scene.balance(payer.address), scene.balance(scene.vault)];
			const { error } = await scene.send(instructions);
			const fee = 5_000n * signerCount(payer.address, instructions);
			fees += fee;
			if (error) {
				expect(scene.balance(payer.address)).toBe(payerBefore - fee);
				return;
			}
			const moved = scene.balance(scene.vault) - vaultBefore;
			if (moved > 0n) solIn += moved;
			else solOut -= moved;
			// Anyone may open a prepared order once its input has arrived, so a successful opening is no theft.
			if (outcome === "stolen" && instructions[0]?.data?.[0] === 1) return;
			if (outcome) outcomes.set(orderId(order), (outcomes.get(orderId(order)) ?? new Set()).add(outcome));
		}

		for (let step = 0; step < steps; step++) {
			if (any(10) === 0) history.passTime(any(pick([20, 20, 100, 2_000, 30_000])));
			if (orders.length === 0 || any(5) === 0) orders.push(newOrder());
			await attempt(pick(orders.slice(-8)), pick(actions));
			expect(await held()).toBe(supply);
		}
		// After all deadlines, everything is closed.
		history.passTime(10_000_000);
		for (const order of orders) {
			for (const action of [expire(), pay("vault"), pay("wallet"), closeOrder, close]) {
				await attempt(order, action);
			}
		}
		expect(await held()).toBe(supply);
		expect(await scene.tokens(thief.address)).toBe(0n);
		expect(scene.balance(payer.address)).toBe(sol.payer - fees);
		expect(scene.balance(scene.vault)).toBe(sol.vault + solIn - solOut);
		const left = scene.svm.getProgramAccounts(program).filter((account) => account.lamports > 0n);
		expect(left.map(({ address }) => address)).toEqual([scene.vault]);
		for (const seen of outcomes.values()) {
			const all = [...seen].join(", ");
			expect(seen.has("stolen"), all).toBe(false);
			expect(seen.has("released") && seen.has("refunded"), all).toBe(false);
			expect(seen.has("filled") && seen.has("voided"), all).toBe(false);
			if (seen.has("paid vault")) expect(seen.has("released"), all).toBe(true);
			if (seen.has("paid wallet")) expect(seen.has("refunded"), all).toBe(true);
		}
	},
);
