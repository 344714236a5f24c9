import { accountRentLamports, programAccountSizes, tokenAccountRentLamports } from "@geoswap/protocol";
import type { Signature } from "@solana/kit";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { readLanded } from "../../src/chain/solana/read/read-landed.ts";
import { readBlockhash, readHeight, readSlots } from "../../src/chain/solana/read/read-slots.ts";
import { toSignature } from "../../src/chain/solana/read/read-statuses.ts";
import { simulateTransaction, toBase64 } from "../../src/chain/solana/send/simulate-transaction.ts";
import { type SolanaSubject, solanaContractScene } from "./solana-contract-scene.ts";

/** The rent of an order and of the token account that holds its input. */
const orderRentLamports = accountRentLamports(programAccountSizes.order) + tokenAccountRentLamports;

/** Tests what the service relies on of Solana, for any implementation. */
export function solanaChainContract(name: string, startSubject: () => Promise<SolanaSubject>): void {
	describe(name, () => {
		let subject: SolanaSubject;
		let scene: ReturnType<typeof solanaContractScene>;
		beforeAll(async () => {
			subject = await startSubject();
			scene = solanaContractScene(subject);
		});
		afterEach(() => subject.stallFinality(false));
		afterAll(() => subject?.stop());

		test("a deposit moves the order's input into the order's own account, and the fee payer pays for it", async () => {
			const { order, wallet } = await scene.orderFrom();
			const paid = await scene.lamports(scene.feePayer);
			const signed = await scene.land(await scene.signDeposit(order, wallet));
			expect(await scene.state(order)).toBe("opened");
			expect(await scene.balance(wallet.address)).toBe(0n);
			const landed = await readLanded(scene.chain, signed.signature);
			expect(landed).toMatchObject({ isFailed: false, message: { feePayer: scene.feePayer } });
			expect([...(landed?.tokens.values() ?? [])]).toContainEqual({
				mint: scene.usdc,
				owner: wallet.address,
				before: order.inputAmount,
				after: 0n,
			});
			expect(await scene.lamports(scene.feePayer)).toBe(paid - (landed?.fee ?? 0n) - orderRentLamports);
		});

		test("an order is paid once: a second payout fails, pays its fee and moves nothing", async () => {
			const { order, recipient } = await scene.orderTo();
			const first = await scene.signPayout(order);
			await scene.land(first);
			expect(await scene.balance(recipient)).toBe(order.minOutput);
			expect(await scene.record(order)).toBe("filled");
			const second = await scene.signPayout(order);
			expect(second.signature).not.toBe(first.signature);
			expect(await simulateTransaction(scene.chain, second.raw)).toMatchObject({ ok: false });
			const before = await scene.lamports(scene.feePayer);
			await scene.land(second);
			expect(await scene.status(second)).toMatchObject({ isFailed: true });
			expect(await scene.balance(recipient)).toBe(order.minOutput);
			const landed = await readLanded(scene.chain, second.signature);
			expect(await scene.lamports(scene.feePayer)).toBe(before - (landed?.fee ?? 0n));
		});

		test("the same bytes sent again change nothing", async () => {
			const { order, recipient } = await scene.orderTo();
			const signed = await scene.land(await scene.signPayout(order));
			const status = await scene.status(signed);
			await scene.land(signed);
			expect(await scene.status(signed)).toMatchObject({ slot: status?.slot, isFailed: false });
			expect(await scene.balance(recipient)).toBe(order.minOutput);
		});

		test("a voided order is not paid", async () => {
			const { order, recipient } = await scene.orderTo();
			await scene.land(await scene.signVoid(order));
			expect(await scene.record(order)).toBe("voided");
			const payout = await scene.land(await scene.signPayout(order, { createsAccount: true }));
			expect(await scene.status(payout)).toMatchObject({ isFailed: true });
			expect(await scene.balance(recipient)).toBe(0n);
		});

		test("an order's input goes to the vault or back to the wallet, never both", async () => {
			const [released, refunded] = [await scene.orderFrom(), await scene.orderFrom()];
			for (const { order, wallet } of [released, refunded]) {
				await scene.land(await scene.signDeposit(order, wallet));
			}
			await scene.land(await scene.signRelease(released.order));
			await scene.land(await scene.signRefund(refunded.order));
			expect(await scene.state(released.order)).toBe("released, paid");
			expect(await scene.state(refunded.order)).toBe("refunded, paid");
			expect(await scene.balance(refunded.wallet.address)).toBe(refunded.order.inputAmount);
			const inVault = await scene.balance(subject.deployment.program.vault);
			const late = [await scene.signRefund(released.order), await scene.signRelease(refunded.order)];
			for (const signed of late) {
				await scene.land(signed);
				expect(await scene.status(signed)).toMatchObject({ isFailed: true });
			}
			expect(await scene.balance(released.wallet.address)).toBe(0n);
			expect(await scene.balance(subject.deployment.program.vault)).toBe(inVault);
		});

		test("the program reads the time of the block that a transaction lands in: an order is refunded without attesters from its deadline on", async () => {
			const { order, wallet } = await scene.orderFrom();
			await scene.land(await scene.signDeposit(order, wallet));
			const early = await scene.land(await scene.signExpiry(order));
			expect(await scene.status(early)).toMatchObject({ isFailed: true });
			const before = await scene.programTime();
			await subject.passTime(900);
			await subject.slots(4);
			expect((await scene.programTime()) - before).toBeGreaterThanOrEqual(900);
			const refund = await scene.land(await scene.signExpiry(order));
			expect(await scene.status(refund)).toMatchObject({ isFailed: false });
			expect(await scene.state(order)).toBe("refunded, paid");
			expect(await scene.balance(wallet.address)).toBe(order.inputAmount);
		});

		test("a transaction lands on top of the last valid height of its blockhash, and not one block later", async () => {
			const { lastValidBlockHeight, blockhash } = await readBlockhash(scene.chain);
			const processedHeight = async () => scene.chain.rpc.getBlockHeight({ commitment: "processed" }).send();
			const [early, late] = [await scene.orderTo(), await scene.orderTo()];
			const [inTime, tooLate] = [
				await scene.signPayout(early.order, { blockhash }),
				await scene.signPayout(late.order, { blockhash }),
			];
			while ((await processedHeight()) < lastValidBlockHeight) await subject.slots(1);
			await scene.send(inTime);
			while ((await processedHeight()) <= lastValidBlockHeight) await subject.slots(1);
			await scene.send(tooLate);
			await subject.slots(5);
			expect(await scene.status(inTime)).toMatchObject({ isFailed: false });
			expect(await scene.rawStatus(tooLate)).toBeNull();
			expect(await simulateTransaction(scene.chain, tooLate.raw)).toMatchObject({
				ok: false,
				reason: "BlockhashNotFound",
			});
			expect(await scene.balance(late.recipient)).toBe(0n);
		});

		test("a transaction is processed, then confirmed, then final, and is visible from each commitment on", async () => {
			const { order } = await scene.orderTo();
			const signed = await scene.send(await scene.signPayout(order));
			expect(await scene.rawStatus(signed)).toBeNull();
			await subject.slots(1);
			// The slot had no block.
			if (!(await scene.rawStatus(signed))) await subject.slots(1);
			expect(await scene.rawStatus(signed)).toMatchObject({ confirmationStatus: "processed", err: null });
			expect(await scene.status(signed)).toBeUndefined();
			expect(await readLanded(scene.chain, signed.signature)).toBeUndefined();
			expect(await scene.record(order)).toBeUndefined();
			await subject.slots(3);
			expect(await scene.status(signed)).toMatchObject({ isFinal: false });
			expect(await readLanded(scene.chain, signed.signature, "finalized")).toBeUndefined();
			expect(await scene.record(order, "finalized")).toBeUndefined();
			await subject.slots(33);
			expect(await scene.status(signed)).toMatchObject({ isFinal: true });
			expect(await readLanded(scene.chain, signed.signature, "finalized")).toMatchObject({ isFailed: false });
			expect(await scene.record(order, "finalized")).toBe("filled");
		});

		test("heights count blocks and are below slots, since some slots have no block", async () => {
			const { finalized, confirmed } = await readSlots(scene.chain);
			expect(finalized.slot).toBeLessThan(confirmed.slot);
			expect(confirmed.height).toBeLessThan(confirmed.slot);
			expect(Number(await readHeight(scene.chain))).toBe(confirmed.height);
			await subject.slots(40);
			const later = await readSlots(scene.chain);
			expect(later.confirmed.slot - confirmed.slot).toBeGreaterThan(
				later.confirmed.height - confirmed.height,
			);
			expect(later.finalized.timestamp).toBeGreaterThanOrEqual(finalized.timestamp);
			const skipped = Math.floor(confirmed.slot / 10) * 10;
			expect(await scene.ask("getBlockTime", [skipped])).toMatchObject({
				error: { code: expect.anything() },
			});
		});

		test("an address's transactions are listed newest first, failed ones too, page by page", async () => {
			const { order, recipient } = await scene.orderTo();
			const landed = [
				await scene.land(await scene.signPayout(order)),
				await scene.land(await scene.signPayout(order)),
				await scene.land(await scene.signPayout(order)),
			];
			const expected = landed.map(({ signature }) => toSignature(signature)).toReversed();
			const list = async (config: { before?: Signature; until?: Signature; limit?: number }) => {
				const asked = { commitment: "confirmed" as const, ...config };
				const found = await scene.chain.rpc.getSignaturesForAddress(recipient, asked).send();
				return found.map(({ signature }) => signature);
			};
			const [newest, , oldest] = expected as [Signature, Signature, Signature];
			expect(await list({})).toEqual(expected);
			expect(await list({ limit: 2 })).toEqual(expected.slice(0, 2));
			expect(await list({ before: newest })).toEqual(expected.slice(1));
			expect(await list({ until: oldest })).toEqual(expected.slice(0, 2));
		});

		test("a simulation tells success from failure, and changes nothing", async () => {
			const { order, recipient } = await scene.orderTo();
			const { order: deposit, wallet } = await scene.orderFrom();
			const poor = { ...deposit, inputAmount: deposit.inputAmount + 1n };
			expect(await simulateTransaction(scene.chain, (await scene.signPayout(order)).raw)).toEqual({
				ok: true,
			});
			expect(
				await simulateTransaction(scene.chain, (await scene.signDeposit(poor, wallet)).raw),
			).toMatchObject({ ok: false, reason: expect.stringMatching(/^instruction \d: Custom 1$/) });
			await subject.slots(4);
			expect(await scene.balance(recipient)).toBe(0n);
			expect(await scene.balance(wallet.address)).toBe(deposit.inputAmount);
		});

		test("a confirmed transaction is undone by a fork, and lands again when it is sent again", async () => {
			const { order, recipient } = await scene.orderTo();
			const { order: deposit, wallet } = await scene.orderFrom();
			const signed = [await scene.signPayout(order), await scene.signDeposit(deposit, wallet)] as const;
			await subject.slots(1);
			const paid = await scene.lamports(scene.feePayer);
			for (const one of signed) await scene.send(one);
			await subject.slots(5);
			const slot = (await scene.status(signed[0]))?.slot ?? 0;
			expect(await scene.balance(recipient)).toBe(order.minOutput);
			const { confirmed } = await readSlots(scene.chain);

			await subject.fork({ depth: 5, keep: [] });
			for (const one of signed) {
				expect(await scene.rawStatus(one)).toBeNull();
				expect(await readLanded(scene.chain, one.signature)).toBeUndefined();
			}
			expect(await scene.record(order)).toBeUndefined();
			expect(await scene.state(deposit)).toBeUndefined();
			expect(await scene.balance(recipient)).toBe(0n);
			expect(await scene.balance(wallet.address)).toBe(deposit.inputAmount);
			expect(await scene.lamports(scene.feePayer)).toBe(paid);
			const listed = scene.chain.rpc.getSignaturesForAddress(recipient, { commitment: "confirmed" }).send();
			expect(await listed).toEqual([]);
			expect((await readSlots(scene.chain)).confirmed).toEqual(confirmed);
			await subject.slots(5);
			expect(await scene.rawStatus(signed[0])).toBeNull();

			for (const one of signed) await scene.land(one);
			expect((await scene.status(signed[0]))?.slot).toBeGreaterThan(slot);
			expect(await scene.balance(recipient)).toBe(order.minOutput);
			expect(await scene.balance(wallet.address)).toBe(0n);
		});

		test("transactions that a fork keeps land again by themselves, and the others do not", async () => {
			const [kept, gone] = [await scene.orderTo(), await scene.orderTo()];
			const [keptPayout, gonePayout] = [
				await scene.signPayout(kept.order),
				await scene.signPayout(gone.order),
			];
			await subject.slots(1);
			await scene.send(keptPayout);
			await scene.send(gonePayout);
			await subject.slots(5);
			await subject.fork({ depth: 5, keep: [toSignature(keptPayout.signature)] });
			expect(await scene.rawStatus(keptPayout)).toBeNull();
			await subject.slots(4);
			expect(await scene.balance(kept.recipient)).toBe(kept.order.minOutput);
			expect(await scene.balance(gone.recipient)).toBe(0n);
		});

		test("a blockhash of a block that a fork dropped is invalid", async () => {
			await subject.slots(4);
			const { order, recipient } = await scene.orderTo();
			const payout = await scene.signPayout(order);
			await subject.fork({ depth: 5, keep: [] });
			expect(await simulateTransaction(scene.chain, payout.raw)).toMatchObject({
				reason: "BlockhashNotFound",
			});
			await scene.land(payout);
			expect(await scene.rawStatus(payout)).toBeNull();
			await scene.land(await scene.signPayout(order));
			expect(await scene.balance(recipient)).toBe(order.minOutput);
		});

		test("a fork never reaches final slots", async () => {
			const { order, recipient } = await scene.orderTo();
			const payout = await scene.land(await scene.signPayout(order));
			await subject.slots(36);
			const { finalized } = await readSlots(scene.chain);
			await subject.fork({ depth: 10_000, keep: [] });
			expect(await scene.status(payout)).toMatchObject({ isFinal: true, isFailed: false });
			expect((await readSlots(scene.chain)).finalized).toEqual(finalized);
			expect(await scene.balance(recipient)).toBe(order.minOutput);
		});

		test("while finality is stalled blocks go on, and finality catches up afterwards", async () => {
			await subject.stallFinality(true);
			const before = await readSlots(scene.chain);
			const { order } = await scene.orderTo();
			const payout = await scene.land(await scene.signPayout(order));
			await subject.slots(60);
			const during = await readSlots(scene.chain);
			expect(during.finalized).toEqual(before.finalized);
			expect(during.confirmed.slot).toBeGreaterThan(before.confirmed.slot + 60);
			expect(await scene.status(payout)).toMatchObject({ isFinal: false });
			await subject.stallFinality(false);
			await subject.slots(1);
			expect(await scene.status(payout)).toMatchObject({ isFinal: true });
		});

		test("a request that cannot be answered fails with a node's error code", async () => {
			const { order } = await scene.orderTo();
			const payout = await scene.signPayout(order);
			await scene.land(payout);
			const signature = toSignature(payout.signature);
			const failing: [string, unknown[], number][] = [
				["getNothing", [], -32601],
				["devnet_nothing", [], -32601],
				["getBalance", ["not an address"], -32602],
				["getSignatureStatuses", [Array.from({ length: 257 }, () => signature)], -32602],
				["getTransaction", [signature, { commitment: "processed" }], -32602],
				["getTransaction", [signature, { commitment: "confirmed", encoding: "base64" }], -32015],
				["getSlot", [{ minContextSlot: 1_000_000_000 }], -32016],
				["getBlockTime", [1_000_000_000], -32004],
				["sendTransaction", ["AA==", { encoding: "base64" }], -32602],
				// The transaction has already landed, so preflight fails.
				[
					"sendTransaction",
					[toBase64(payout.raw), { encoding: "base64", preflightCommitment: "confirmed" }],
					-32002,
				],
			];
			for (const [method, params, code] of failing) {
				const { error } = await scene.ask(method, params);
				expect(Number(error?.code), method).toBe(code);
			}
		});

		test("a transaction with a forged signature never lands", async () => {
			const { order, recipient } = await scene.orderTo();
			const payout = await scene.signPayout(order);
			const raw: `0x${string}` = `0x01${"11".repeat(64)}${payout.raw.slice(2 + 2 * 65)}`;
			const forged = { raw: raw.replace(/^0x01/, payout.raw.slice(0, 4)) as `0x${string}` };
			await scene.send({ ...payout, ...forged });
			await subject.slots(4);
			expect(await scene.balance(recipient)).toBe(0n);
		});
	});
}
