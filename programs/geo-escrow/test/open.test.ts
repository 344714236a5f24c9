import { createHash } from "node:crypto";
import {
	closeOrder,
	expireOrder,
	inputAddress,
	type Order,
	openOrder,
	orderAddress,
	orderId,
	packDeadlines,
	prepareOrder,
	solanaNativeToken,
	toSolanaWord,
} from "@geoswap/protocol";
import {
	type Address,
	generateKeyPairSigner,
	getAddressDecoder,
	getAddressEncoder,
	isOffCurveAddress,
	lamports,
} from "@solana/kit";
import { getTransferSolInstruction } from "@solana-program/system";
import { type Hex, hexToBytes } from "viem";
import { expect, test } from "vitest";
import { createScene, native } from "./scene.ts";
import { tokensOf } from "./test-helpers.ts";
import { withAccount } from "./with-account.ts";

const token2022 = "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb" as Address;
const wrappedSol = "So11111111111111111111111111111111111111112" as Address;

/** Returns the address that another bump gives the same order. Only the highest bump is the order's. */
function addressByBump(program: Address, id: Hex, bump: number): Address {
	const hash = createHash("sha256").update("order").update(hexToBytes(id)).update(Uint8Array.of(bump));
	hash.update(new Uint8Array(getAddressEncoder().encode(program))).update("ProgramDerivedAddress");
	return getAddressDecoder().decode(hash.digest());
}

test("an order is opened by a plain transfer of its wallet, which has no SOL and signs no instruction of the program", async () => {
	const scene = await createScene();
	const order = scene.orderFrom();
	const instructions = await scene.opening(order);
	for (const { programAddress, accounts } of instructions) {
		const isOurs = programAddress === scene.program;
		expect(accounts?.some(({ address }) => address === scene.wallet.address)).toBe(!isOurs);
	}
	const { events } = await scene.act(...instructions);
	expect(events).toEqual([[Buffer.from("opened"), Buffer.from(hexToBytes(orderId(order)))]]);
	expect(await scene.tokens(scene.wallet.address)).toBe(999_000n);
	expect(scene.balance(scene.wallet.address)).toBe(0n);
});

test("an order is not open before its input has arrived whole", async () => {
	const scene = await createScene();
	scene.svm.airdrop(scene.wallet.address, lamports(10_000_000_000n));
	for (const inputToken of [toSolanaWord(scene.mint.address), native]) {
		const order = scene.orderFrom({ inputToken });
		const [prepare, , open] = await scene.opening(order);
		if (!prepare || !open) throw new Error("there are three instructions");
		const fund = (amount: bigint) => scene.funding(order, amount);
		expect((await scene.send([prepare, open])).error).toBe("NotFunded");
		expect((await scene.send([prepare, await fund(999n), open])).error).toBe("NotFunded");
		await scene.act(prepare, await fund(999n));
		expect((await scene.send([await scene.decision("Release", [order])])).error).toBe("NotOpen");
		await scene.act(await fund(1n), open);
		expect((await scene.send([open])).error).toBe("AlreadyOpened");
	}
});

test("the input of another order, or another account with the token, opens nothing", async () => {
	const scene = await createScene();
	const [order, other] = [scene.orderFrom(), scene.orderFrom()];
	await scene.act(...(await scene.opening(other)));
	const open = await openOrder(scene.program, order);
	await scene.act(await prepareOrder(scene.program, order, scene.payer));
	const inputOfOther = await inputAddress(scene.program, orderId(other));
	for (const account of [inputOfOther, await tokensOf(scene.wallet.address, scene.mint.address)]) {
		expect((await scene.send([withAccount(open, 1, account)])).error).toBe("WrongAccount");
	}
});

test("nobody prevents an open by preparing the order first, and the rent goes back to whoever prepared it", async () => {
	const scene = await createScene();
	const order = scene.orderFrom();
	const byThief = await prepareOrder(scene.program, order, scene.thief);
	const before = scene.balance(scene.thief.address);
	expect((await scene.send([byThief], scene.thief)).error).toBeUndefined();
	expect(scene.balance(scene.thief.address)).toBeLessThan(before - 4_000_000n);
	await scene.act(...(await scene.opening(order)));
	scene.setTime(scene.start + 100n);
	await scene.act(await scene.decision("Release", [order]), await scene.payTo("vault", order));
	expect((await scene.send([await scene.closing(order)])).error).toBe("WrongAccount");
	await scene.act(await closeOrder(scene.program, orderId(order), scene.thief.address));
	expect(scene.balance(scene.thief.address)).toBe(before - 5_000n);
});

test("an order that was prepared and not opened in time goes back to its wallet, with all that has arrived", async () => {
	const scene = await createScene();
	scene.svm.airdrop(scene.wallet.address, lamports(10_000_000_000n));
	const before = scene.balance(scene.payer.address);
	let transactions = 0n;
	for (const [inputToken, arrived] of [
		[toSolanaWord(scene.mint.address), 999n],
		[toSolanaWord(scene.mint.address), 0n],
		[native, 1_000_000n],
	] as const) {
		scene.setTime(scene.start);
		const order = scene.orderFrom({ inputToken, inputAmount: 2_000_000n });
		const held = () =>
			inputToken === native ? scene.balance(scene.wallet.address) : scene.tokensIn(walletAccount);
		const walletAccount = await tokensOf(scene.wallet.address, scene.mint.address);
		const whole = held();
		await scene.act(await prepareOrder(scene.program, order, scene.payer));
		if (arrived > 0n) {
			await scene.act(await scene.funding(order, arrived));
			transactions += 2n;
		}
		const end = [
			await expireOrder(scene.program, orderId(order)),
			await scene.payTo("wallet", order),
			await scene.closing(order),
		];
		scene.setTime(scene.start + 60n);
		expect((await scene.send(end)).error).toBe("TooEarly");
		scene.setTime(scene.start + 61n);
		expect((await scene.send([await openOrder(scene.program, order)])).error).toBe("InvalidDeadlines");
		await scene.act(...end);
		transactions += 4n;
		expect(held()).toBe(whole);
	}
	expect(scene.balance(scene.payer.address)).toBe(before - transactions * 5_000n);
});

test("an order is opened once: not again while it is open, nor after it was paid, nor after it was closed", async () => {
	const scene = await createScene();
	const order = await scene.opened();
	const opening = await scene.opening(order);
	const prepare = opening.slice(0, 1);
	expect((await scene.send(opening)).error).toBe("AlreadyOpened");
	expect((await scene.send(prepare)).error).toBe("AlreadyOpened");
	await scene.act(await scene.decision("Release", [order]), await scene.payTo("vault", order));
	// The account stays, since the order could be opened again until its deadline.
	expect((await scene.send(opening)).error).toBe("AlreadyOpened");
	expect((await scene.send([await scene.payTo("vault", order)])).error).toBe("AlreadyPaid");
	expect((await scene.send([await scene.closing(order)])).error).toBe("TooEarly");
	scene.setTime(scene.start + 61n);
	const address = await orderAddress(scene.program, orderId(order));
	const gift = getTransferSolInstruction({ source: scene.payer, destination: address, amount: 5_000_000n });
	// Lamports that arrive in the same transaction revive the address, and not the order.
	await scene.act(await scene.closing(order), gift);
	const revived = scene.svm.getAccount(address);
	if (!revived.exists) throw new Error("it has the gift");
	expect([revived.programAddress, revived.data.length]).toEqual([solanaNativeToken, 0]);
	expect((await scene.send(prepare)).error).toBe("InvalidDeadlines");
	expect((await scene.send([await openOrder(scene.program, order)])).error).toBe("WrongOwner");
});

test("lamports or tokens that were sent to an order's addresses before do no harm", async () => {
	const scene = await createScene();
	const order = scene.orderFrom();
	const id = orderId(order);
	for (const destination of [await orderAddress(scene.program, id), await inputAddress(scene.program, id)]) {
		const amount = 10_000_000n;
		await scene.act(getTransferSolInstruction({ source: scene.thief, destination, amount }));
	}
	await scene.act(...(await scene.opening(order)));
	// A stranger's unit is paid with the input, so the account can be closed.
	const source = await scene.funding(order, 1n);
	await scene.act(source);
	scene.setTime(scene.start + 100n);
	const before = await scene.tokens(scene.vault);
	await scene.act(await scene.decision("Release", [order]), await scene.payTo("vault", order));
	expect(await scene.tokens(scene.vault)).toBe(before + 1_001n);
});

test("an order has one address, and its input another", async () => {
	const scene = await createScene();
	const order = scene.orderFrom();
	const prepare = await prepareOrder(scene.program, order, scene.payer);
	const { address: stranger } = await generateKeyPairSigner();
	expect((await scene.send([withAccount(prepare, 0, scene.payer.address)], scene.thief)).error).toBe(
		"MissingSignature",
	);
	// The payer's signature reaches the program, and the wallet's must not.
	const byWallet = await prepareOrder(scene.program, order, scene.wallet);
	expect((await scene.send([byWallet])).error).toBe("WrongAccount");
	expect((await scene.send([withAccount(prepare, 1, stranger)])).error).toBe("WrongAccount");
	expect((await scene.send([withAccount(prepare, 3, stranger)])).error).toBe("WrongAccount");
	// An address of the same seeds with another bump would let one order be opened twice.
	const all = Array.from({ length: 256 }, (_, bump) => addressByBump(scene.program, orderId(order), bump));
	const addresses = all.filter(isOffCurveAddress);
	expect(addresses.at(-1)).toBe(await orderAddress(scene.program, orderId(order)));
	for (const other of addresses.slice(-4, -1)) {
		expect((await scene.send([withAccount(prepare, 1, other)])).error).toBe("WrongAccount");
	}
});

test("every term is part of an order's id", async () => {
	const scene = await createScene();
	const order = scene.orderFrom();
	const prepare = await prepareOrder(scene.program, order, scene.payer);
	const data = new Uint8Array(prepare.data ?? []);
	// Each byte after the instruction's number belongs to a term. Deadlines and amounts may be refused for their own
	// values.
	for (let i = 1; i < data.length; i++) {
		const changed = data.slice();
		changed[i] = (changed[i] ?? 0) ^ 1;
		const { error } = await scene.send([{ ...prepare, data: changed }]);
		expect(["WrongAccount", "InvalidDeadlines"], `byte ${i}`).toContain(error);
	}
	expect((await scene.send([withAccount(prepare, 4, scene.otherMint.address)])).error).toBe("WrongAccount");
	await scene.act(prepare);
});

test("no other token program is called, and wrapped SOL is not taken", async () => {
	const scene = await createScene();
	const order = scene.orderFrom();
	const prepare = await prepareOrder(scene.program, order, scene.payer);
	for (const program of [token2022, scene.thief.address, scene.program]) {
		expect((await scene.send([withAccount(prepare, 5, program)])).error).toBeDefined();
	}
	const wrapped = scene.orderFrom({ inputToken: toSolanaWord(wrappedSol) });
	expect((await scene.send([await prepareOrder(scene.program, wrapped, scene.payer)])).error).toBe(
		"UnsupportedMint",
	);
	// The Token program does not own a mint of Token-2022.
	const { address } = await generateKeyPairSigner();
	scene.svm.setAccount({
		...scene.svm.getAccount(scene.mint.address),
		address,
		programAddress: token2022,
	} as never);
	const foreign = scene.orderFrom({ inputToken: toSolanaWord(address) });
	const { error } = await scene.send([await prepareOrder(scene.program, foreign, scene.payer)]);
	expect(error).toMatch(/^Program Tokenkeg\w+ failed: /);
});

test("terms that the contracts would not open are not opened here", async () => {
	const scene = await createScene();
	const { start } = scene;
	const attempt = async (terms: Partial<Order>) =>
		(await scene.send(await scene.opening(scene.orderFrom(terms)))).error;
	const times = (open: bigint, fill: bigint, refund: bigint) => ({
		deadlines: (open << 128n) | (fill << 64n) | refund,
	});
	const last = 2n ** 64n - 1n;
	for (const [open, fill, refund] of [
		[start - 1n, start + 10n, start + 20n],
		[start + 10n, start + 10n, start + 20n],
		[start + 10n, start + 20n, start + 20n],
		[start + 10n, start + 20n, start + 259_201n],
		[start + 10n, start + 20n, last],
	] as const) {
		expect(await attempt(times(open, fill, refund))).toBe("InvalidDeadlines");
	}
	expect(await attempt({ inputAmount: 0n })).toBe("InvalidAmount");
	expect(await attempt({ minOutput: 0n })).toBe("InvalidAmount");
	expect(await attempt({ inputAmount: 1_000_001n })).toBeDefined();
	expect(await attempt({ inputAmount: last })).toBeDefined();
	const prepare = await prepareOrder(scene.program, scene.orderFrom(), scene.payer);
	const data = new Uint8Array(prepare.data ?? []);
	const withData = async (bytes: Uint8Array) => (await scene.send([{ ...prepare, data: bytes }])).error;
	expect(await withData(data.slice(0, -1))).toBe("WrongDataLength");
	expect(await withData(new Uint8Array([...data, 0]))).toBe("WrongDataLength");
	expect(await withData(Uint8Array.of(99))).toBe("UnknownInstruction");
	expect(await withData(new Uint8Array())).toBe("UnknownInstruction");
	const few = prepare.accounts?.slice(0, 1) ?? [];
	expect((await scene.send([{ ...prepare, accounts: few }])).error).toBe("WrongAccountCount");
	expect(await attempt(times(start, start + 1n, start + 259_200n))).toBeUndefined();
	const longest = packDeadlines({
		openDeadline: start,
		fillDeadline: start + 1n,
		refundAfter: start + 259_200n,
	});
	expect(times(start, start + 1n, start + 259_200n).deadlines).toBe(longest);
});
