import { readFileSync } from "node:fs";
import {
	closeOrder,
	createVault,
	decideOrders,
	expireOrder,
	inputAddress,
	type Order,
	openOrder,
	orderAddress,
	orderId,
	packDeadlines,
	payOrder,
	prepareOrder,
	setVaultRoles,
	vaultAddress,
} from "@geoswap/protocol";
import { generateKeyPairSigner, type Instruction, lamports } from "@solana/kit";
import { getCreateAccountInstruction } from "@solana-program/system";
import {
	AuthorityType,
	getFreezeAccountInstruction,
	getInitializeAccount3Instruction,
	getSetAuthorityInstruction,
	getThawAccountInstruction,
	TOKEN_PROGRAM_ADDRESS,
} from "@solana-program/token";
import {
	bytesToBigInt,
	bytesToHex,
	encodeAbiParameters,
	type Hex,
	hexToBytes,
	keccak256,
	numberToBytes,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { expect, test } from "vitest";
import { createScene, native, programFile, type Scene } from "./scene.ts";
import { digestOf, signAll, tokensOf } from "./test-helpers.ts";
import { withAccount } from "./with-account.ts";

async function released(scene: Scene, terms: Partial<Order> = {}): Promise<Order> {
	const order = await scene.opened(terms);
	await scene.act(await scene.decision("Release", [order]));
	return order;
}

/** Returns the hash of a set that the protocol's own function refuses to hash. */
function hashOfSet(threshold: number, attesters: readonly Hex[]): Hex {
	const types = [{ type: "uint256" }, { type: "address[]" }] as const;
	return keccak256(encodeAbiParameters(types, [BigInt(threshold), attesters]));
}

test("an order's input goes to its vault by an attestation, and all rent comes back", async () => {
	const scene = await createScene();
	const [inventory, sol] = [await scene.tokens(scene.vault), scene.balance(scene.payer.address)];
	const order = await scene.opened();
	scene.setTime(scene.start + 100n);
	const decided = await scene.act(
		await scene.decision("Release", [order]),
		await scene.payTo("vault", order),
		await scene.closing(order),
	);
	const id = Buffer.from(hexToBytes(orderId(order)));
	expect(decided.events).toEqual([[Buffer.from("decided"), Buffer.of(2), id]]);
	expect(await scene.tokens(scene.vault)).toBe(inventory + 1_000n);
	for (const address of [orderAddress, inputAddress]) {
		expect(scene.svm.getAccount(await address(scene.program, orderId(order))).exists).toBe(false);
	}
	// The payer paid for three signatures, and for nothing else.
	expect(scene.balance(scene.payer.address)).toBe(sol - 15_000n);
});

test("SOL goes to the vault or back to the wallet, whole", async () => {
	const scene = await createScene();
	scene.svm.airdrop(scene.wallet.address, lamports(10_000_000_000n));
	for (const [to, kind] of [
		["vault", "Release"],
		["wallet", "Refund"],
	] as const) {
		const order = await scene.opened({ inputToken: native, inputAmount: 2_000_000_000n });
		const address = to === "vault" ? scene.vault : scene.wallet.address;
		const before = scene.balance(address);
		await scene.act(await scene.decision(kind, [order]), await scene.payTo(to, order));
		expect(scene.balance(address)).toBe(before + 2_000_000_000n);
	}
});

test("one attestation decides many orders, in one transaction with their payments", async () => {
	const scene = await createScene();
	const orders = [];
	for (let i = 0; i < 5; i++) orders.push(await scene.opened());
	scene.setTime(scene.start + 100n);
	const inventory = await scene.tokens(scene.vault);
	const payments = await Promise.all(orders.map((order) => scene.payTo("vault", order)));
	await scene.act(await scene.decision("Release", orders), ...payments);
	expect(await scene.tokens(scene.vault)).toBe(inventory + 5_000n);
});

test("orders that are decided, closed or of another set are skipped, and the others of the batch are decided", async () => {
	const scene = await createScene();
	const [first, decided, closed, foreign, last] = [
		await scene.opened(),
		await scene.opened(),
		await scene.opened(),
		await scene.opened({ attesterSet: hashOfSet(1, []) }),
		await scene.opened(),
	];
	scene.setTime(scene.start + 61n);
	await scene.act(await scene.decision("Refund", [decided]));
	const end = [await scene.payTo("wallet", closed), await scene.closing(closed)];
	await scene.act(await scene.decision("Refund", [closed]), ...end);
	const orderIds = [first, decided, closed, foreign, last].map(orderId);
	const hash = digestOf(scene.program, "Release", orderIds);
	const signatures = await signAll(hash, scene.keys.slice(0, 2));
	const batch = (ids: readonly Hex[]) =>
		decideOrders(scene.program, "Release", { orderIds, set: scene.set, signatures, closed: ids });
	expect((await scene.send([await batch([])])).error).toBe("WrongDataLength");
	expect((await scene.send([await batch([orderId(first)])])).error).toBe("InvalidAttester");
	const { events } = await scene.act(await batch([orderId(closed)]));
	expect(events.map(([, , id]) => id)).toEqual(
		[first, last].map((one) => Buffer.from(hexToBytes(orderId(one)))),
	);
	// Nothing is left to decide.
	expect((await scene.send([await batch([orderId(closed)])])).error).toBe("NotOpen");
	await scene.act(await scene.payTo("vault", first), await scene.payTo("vault", last));
	expect((await scene.send([await scene.payTo("wallet", foreign)])).error).toBe("NotDecided");
});

test("anyone refunds from refundAfter on, and nobody before", async () => {
	const scene = await createScene();
	const order = await scene.opened();
	const refund = [await expireOrder(scene.program, orderId(order)), await scene.payTo("wallet", order)];
	scene.setTime(scene.start + 89_999n);
	expect((await scene.send(refund, scene.thief)).error).toBe("TooEarly");
	scene.setTime(scene.start + 90_000n);
	expect((await scene.send(refund, scene.thief)).error).toBeUndefined();
	expect(await scene.tokens(scene.wallet.address)).toBe(1_000_000n);
});

test("a decided order stays decided", async () => {
	const scene = await createScene();
	const [order, refunded] = [await released(scene), await scene.opened()];
	await scene.act(await scene.decision("Refund", [refunded]));
	for (const kind of ["Release", "Refund"] as const) {
		for (const one of [order, refunded]) {
			expect((await scene.send([await scene.decision(kind, [one])])).error).toBe("NotOpen");
		}
	}
	expect((await scene.send([await scene.payTo("vault", refunded)])).error).toBe("WrongAccount");
	scene.setTime(scene.start + 100_000n);
	const expire = await expireOrder(scene.program, orderId(order));
	expect((await scene.send([expire])).error).toBe("NotOpen");
	expect((await scene.send([await scene.payTo("wallet", order)])).error).toBe("WrongAccount");
	expect((await scene.send([await scene.closing(order)])).error).toBe("NotPaid");
	await scene.act(await scene.payTo("vault", order));
	expect((await scene.send([await scene.payTo("vault", order)])).error).toBe("AlreadyPaid");
	await scene.act(await scene.closing(order));
	for (const again of [await scene.payTo("vault", order), await scene.closing(order), expire]) {
		expect((await scene.send([again])).error).toBe("WrongOwner");
	}
});

test("only the threshold of the order's own attesters decides, for this statement, these orders and this program", async () => {
	const scene = await createScene();
	const [order, other] = [await scene.opened(), await scene.opened()];
	const id = orderId(order);
	const [a, b] = scene.keys as [Hex, Hex];
	const hash = digestOf(scene.program, "Release", [id]);
	const by = async (digest: Hex, keys: readonly Hex[], set = scene.set) => {
		const signatures = await signAll(digest, keys);
		return (
			await scene.send([await decideOrders(scene.program, "Release", { orderIds: [id], set, signatures })])
		).error;
	};
	const stranger = `0x${"11".repeat(32)}` as const;
	expect(await by(hash, [a])).toBe("ThresholdNotMet");
	expect(await by(hash, [])).toBe("ThresholdNotMet");
	expect(await by(hash, [a, stranger])).toBe("InvalidAttester");
	expect(await by(hash, [a, a])).toBe("InvalidAttester");
	// Another set is not the order's, so nothing is decided.
	expect(await by(hash, [a, b], { ...scene.set, threshold: 1 })).toBe("NotOpen");
	expect(await by(hash, [a, b], { threshold: 2, attesters: scene.set.attesters.slice(0, 2) })).toBe(
		"NotOpen",
	);
	for (const digest of [
		digestOf(scene.program, "Refund", [id]),
		digestOf(scene.program, "Release", [orderId(other)]),
		digestOf(scene.vault, "Release", [id]),
	]) {
		expect(await by(digest, [a, b])).toBe("InvalidAttester");
	}
	const signatures = (await signAll(hash, [a, b])).reverse();
	const descending = await decideOrders(scene.program, "Release", {
		orderIds: [id],
		set: scene.set,
		signatures,
	});
	expect((await scene.send([descending])).error).toBe("InvalidAttester");
	const both = await scene.decision("Release", [order, other]);
	const turned: Instruction = { ...both, accounts: both.accounts?.toReversed() ?? [] };
	expect((await scene.send([turned])).error).toBe("InvalidAttester");
	expect((await scene.send([await scene.decision("Release", [])])).error).toBe("NotOpen");
	const longer = { ...both, data: Uint8Array.of(...(both.data ?? []), 0) };
	expect((await scene.send([longer])).error).toBe("WrongDataLength");
	const unknown = { ...both, data: Uint8Array.of(2, 4, ...(both.data ?? []).slice(2)) };
	expect((await scene.send([unknown])).error).toBe("UnknownInstruction");
	// More signatures than needed do no harm.
	await scene.act(await scene.decision("Release", [order, other], scene.keys));
});

test("the mirror image of a signature is refused, and so is one with another recovery id", async () => {
	const scene = await createScene();
	const order = await scene.opened();
	const orderIds = [orderId(order)];
	const signatures = await signAll(digestOf(scene.program, "Refund", orderIds), scene.keys.slice(0, 2));
	const attempt = async (change: (signature: Uint8Array) => Uint8Array) => {
		const changed = signatures.map((signature) => bytesToHex(change(hexToBytes(signature))));
		const decide = { orderIds, set: scene.set, signatures: changed };
		return (await scene.send([await decideOrders(scene.program, "Refund", decide)])).error;
	};
	const curveOrder = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
	const mirrored = (signature: Uint8Array) => {
		const s = numberToBytes(curveOrder - bytesToBigInt(signature.slice(32, 64)), { size: 32 });
		return Uint8Array.of(...signature.slice(0, 32), ...s, signature[64] === 27 ? 28 : 27);
	};
	expect(await attempt(mirrored)).toBe("InvalidAttester");
	for (const v of [0, 1, 29, 255]) {
		expect(await attempt((signature) => Uint8Array.of(...signature.slice(0, 64), v))).toBe("InvalidAttester");
	}
	expect(await attempt((signature) => signature)).toBeUndefined();
});

test("an attester that a set names twice counts once, and a set that needs nobody decides nothing", async () => {
	const scene = await createScene();
	const [key, other] = scene.keys as [Hex, Hex];
	const { address } = privateKeyToAccount(key);
	const twice = { threshold: 2, attesters: [address, address] };
	const nobody = { threshold: 0, attesters: [] };
	for (const [set, keys, error] of [
		[twice, [key, key], "InvalidAttester"],
		[twice, [key, other], "InvalidAttester"],
		[nobody, [], "ThresholdNotMet"],
	] as const) {
		const attesterSet = hashOfSet(set.threshold, set.attesters);
		const orderIds = [orderId(await scene.opened({ attesterSet }))];
		const hash = digestOf(scene.program, "Release", orderIds);
		const signatures = await signAll(hash, keys);
		const decide = await decideOrders(scene.program, "Release", { orderIds, set, signatures });
		expect((await scene.send([decide])).error).toBe(error);
	}
	const many = { threshold: 1, attesters: Array.from({ length: 17 }, () => address) };
	const orderIds = [orderId(await scene.opened())];
	const decide = await decideOrders(scene.program, "Release", { orderIds, set: many, signatures: [] });
	expect((await scene.send([decide])).error).toBe("WrongAttesterSet");
});

test("an input is paid to nobody else, and neither is its rent", async () => {
	const scene = await createScene();
	const [order, other] = [await released(scene), await scene.opened()];
	expect((await scene.send([await scene.payTo("vault", other)])).error).toBe("NotDecided");
	const pay = await scene.payTo("vault", order);
	const orderKey = await orderAddress(scene.program, orderId(order));
	await scene.act(await scene.createTokenAccount(orderKey));
	for (const [i, address, error] of [
		[1, await tokensOf(scene.thief.address, scene.mint.address), "WrongAccount"],
		[1, await tokensOf(scene.vault, scene.otherMint.address), "WrongAccount"],
		[1, scene.thief.address, "WrongOwner"],
		[2, await inputAddress(scene.program, orderId(other)), "WrongAccount"],
		// A token account of the order that does not hold the input. The payment would be nothing.
		[2, await tokensOf(orderKey, scene.mint.address), "WrongAccount"],
		[0, scene.vault, "WrongOwner"],
	] as const) {
		expect((await scene.send([withAccount(pay, i, address)])).error, `${i} ${address}`).toBe(error);
	}
	await scene.act(pay);
	scene.setTime(scene.start + 61n);
	const closing = await scene.closing(order);
	expect((await scene.send([withAccount(closing, 1, scene.thief.address)])).error).toBe("WrongAccount");
	expect((await scene.send([withAccount(closing, 0, scene.vault)])).error).toBe("WrongOwner");
	scene.setTime(scene.start);

	scene.svm.airdrop(scene.wallet.address, lamports(10_000_000_000n));
	const sol = await released(scene, { inputToken: native, inputAmount: 2_000_000_000n });
	const paySol = await scene.payTo("vault", sol);
	const own = await orderAddress(scene.program, orderId(sol));
	for (const address of [scene.thief.address, scene.wallet.address, own]) {
		expect((await scene.send([withAccount(paySol, 1, address)])).error).toBe("WrongAccount");
	}
});

test("a copy of an order in a thief's account is no order", async () => {
	const scene = await createScene();
	const order = await released(scene);
	const pay = await scene.payTo("vault", order);
	const account = scene.svm.getAccount(await orderAddress(scene.program, orderId(order)));
	if (!account.exists) throw new Error("the order is decided and not paid");
	const { address } = await generateKeyPairSigner();
	const copy = (change: object) => scene.svm.setAccount({ ...account, address, ...change } as never);
	copy({ programAddress: scene.thief.address });
	expect((await scene.send([withAccount(pay, 0, address)])).error).toBe("WrongOwner");
	// Nor is an account of this program with the tag of another type.
	copy({ data: Uint8Array.of(3, ...account.data.slice(1)) });
	expect((await scene.send([withAccount(pay, 0, address)])).error).toBe("WrongOwner");
	const inventory = scene.svm.getAccount(await tokensOf(scene.vault, scene.mint.address));
	scene.svm.setAccount({ ...inventory, address, programAddress: scene.thief.address } as never);
	expect((await scene.send([withAccount(pay, 1, address)])).error).toBe("WrongOwner");
});

test("an input that cannot be paid waits in the order's account, and the order stays decided", async () => {
	const scene = await createScene();
	const order = await scene.opened();
	const account = await tokensOf(scene.wallet.address, scene.mint.address);
	await scene.act(await scene.decision("Refund", [order]));
	const freeze = { account, mint: scene.mint.address, owner: scene.payer };
	await scene.act(getFreezeAccountInstruction(freeze));
	expect((await scene.send([await scene.payTo("wallet", order)])).error).toBeDefined();
	expect((await scene.send([await scene.decision("Release", [order])])).error).toBe("NotOpen");
	await scene.act(getThawAccountInstruction(freeze));
	await scene.act(await scene.payTo("wallet", order));
	expect(await scene.tokens(scene.wallet.address)).toBe(1_000_000n);
});

test("a wallet that gave its token account away is paid to another one of its own, without a signature", async () => {
	const scene = await createScene();
	const order = await scene.opened();
	await scene.act(await scene.decision("Refund", [order]));
	const rent = scene.svm.minimumBalanceForRentExemption(165n);
	const newAccount = await generateKeyPairSigner();
	const place = { lamports: rent, space: 165, programAddress: TOKEN_PROGRAM_ADDRESS };
	const held = { mint: scene.mint.address, owner: scene.wallet.address };
	await scene.act(
		getCreateAccountInstruction({ payer: scene.payer, newAccount, ...place }),
		getInitializeAccount3Instruction({ account: newAccount.address, ...held }),
	);
	const payInto = (instead: typeof newAccount.address) =>
		payOrder(scene.program, order, { to: "wallet", instead });
	// Another account is refused as long as the usual one is the wallet's.
	expect((await scene.send([await payInto(newAccount.address)])).error).toBe("WrongAccount");
	const owned = await tokensOf(scene.wallet.address, scene.mint.address);
	await scene.act(
		getSetAuthorityInstruction({
			owned,
			owner: scene.wallet,
			authorityType: AuthorityType.AccountOwner,
			newAuthority: scene.thief.address,
		}),
	);
	expect((await scene.send([await scene.payTo("wallet", order)])).error).toBe("WrongAccount");
	await scene.act(await scene.createTokenAccount(scene.wallet.address, scene.otherMint.address));
	for (const wrong of [
		await tokensOf(scene.wallet.address, scene.otherMint.address),
		await tokensOf(scene.thief.address, scene.mint.address),
	]) {
		expect((await scene.send([await payInto(wrong)])).error).toBe("WrongAccount");
	}
	const pay = await payInto(newAccount.address);
	const thiefs = await tokensOf(scene.thief.address, scene.mint.address);
	expect((await scene.send([withAccount(pay, 4, thiefs)])).error).toBe("WrongAccount");
	expect((await scene.send([pay], scene.thief)).error).toBeUndefined();
	expect(scene.tokensIn(newAccount.address)).toBe(1_000n);
});

test("an order within Solana is refunded by its own vault's operator at any time, by anyone from its fill deadline on, and never released by attesters", async () => {
	const scene = await createScene();
	const [first, second] = [scene.orderWithin(), scene.orderWithin()];
	await scene.act(...(await scene.opening(first)));
	await scene.act(...(await scene.opening(second)));
	expect((await scene.send([await scene.decision("Release", [first])])).error).toBe("NotOpen");
	const expire = (order: Order, by?: Parameters<typeof expireOrder>[2]) =>
		expireOrder(scene.program, orderId(order), by);
	expect((await scene.send([await expire(first)])).error).toBe("TooEarly");
	const byThief = { vault: scene.vault, operator: scene.thief };
	const byOperator = { vault: scene.vault, operator: scene.operator };
	expect((await scene.send([await expire(first, byThief)])).error).toBe("NotOperator");
	const unsigned = withAccount(await expire(first, byOperator), 2, scene.operator.address);
	expect((await scene.send([unsigned])).error).toBe("NotOperator");
	await scene.act(await createVault(scene.program, { payer: scene.payer, owner: scene.thief }));
	const vault = await vaultAddress(scene.program, scene.thief.address);
	const roles = { operators: [scene.thief.address] };
	await scene.act(setVaultRoles({ program: scene.program, vault, owner: scene.thief }, roles));
	expect((await scene.send([await expire(first, { vault, operator: scene.thief })])).error).toBe(
		"WrongAccount",
	);
	const prepared = scene.orderWithin();
	await scene.act(await prepareOrder(scene.program, prepared, scene.payer));
	expect((await scene.send([await expire(prepared, byOperator)])).error).toBe("TooEarly");
	await scene.act(await expire(first, byOperator), await scene.payTo("wallet", first));
	scene.setTime(scene.start + 3_600n);
	await scene.act(await expire(second), await scene.payTo("wallet", second));
	expect(await scene.tokens(scene.wallet.address)).toBe(1_000_000n);
	// An order to another chain has attesters.
	const deadlines = packDeadlines({
		openDeadline: scene.start + 4_000n,
		fillDeadline: scene.start + 5_000n,
		refundAfter: scene.start + 9_000n,
	});
	const remote = await scene.opened({ deadlines });
	expect((await scene.send([await expire(remote, byOperator)])).error).toBe("TooEarly");
	scene.setTime(scene.start + 5_000n);
	expect((await scene.send([await expire(remote)])).error).toBe("TooEarly");
});

test("nobody who pays the rent can keep an input from being paid, not even a key that becomes a program", async () => {
	const scene = await createScene();
	for (const to of ["vault", "wallet"] as const) {
		scene.setTime(scene.start);
		const payer = await generateKeyPairSigner();
		scene.svm.airdrop(payer.address, lamports(1_000_000_000n));
		const order = scene.orderFrom();
		await scene.act(await prepareOrder(scene.program, order, payer));
		await scene.act(await scene.funding(order), await openOrder(scene.program, order));
		scene.svm.addProgram(payer.address, new Uint8Array(readFileSync(programFile)));
		const before = await scene.tokens(to === "vault" ? scene.vault : scene.wallet.address);
		await scene.act(
			await scene.decision(to === "vault" ? "Release" : "Refund", [order]),
			await scene.payTo(to, order),
		);
		expect(await scene.tokens(to === "vault" ? scene.vault : scene.wallet.address)).toBe(before + 1_000n);
	}
});

test("an input of SOL is paid whole and its rent returns whole, whatever the chain asks for rent by then", async () => {
	const scene = await createScene();
	const rent = scene.svm.getRent();
	const usual = rent.lamportsPerByteYear;
	scene.svm.airdrop(scene.wallet.address, lamports(10_000_000_000n));
	for (const perByte of [usual / 2n, usual * 2n]) {
		scene.setTime(scene.start);
		const [payerSol, walletSol] = [scene.balance(scene.payer.address), scene.balance(scene.wallet.address)];
		const order = scene.orderFrom({ inputToken: native, inputAmount: 1_000_000_000n });
		await scene.act(await prepareOrder(scene.program, order, scene.payer));
		const setRent = (lamportsPerByte: bigint) => {
			const changed = scene.svm.getRent();
			changed.lamportsPerByteYear = lamportsPerByte;
			scene.svm.setRent(changed);
		};
		setRent(perByte);
		expect((await scene.send([await openOrder(scene.program, order)])).error).toBe("NotFunded");
		await scene.act(await scene.funding(order), await openOrder(scene.program, order));
		await scene.act(await scene.decision("Refund", [order]));
		// With a higher rent the account cannot stay without the input, so it is closed in the same transaction.
		scene.setTime(scene.start + 61n);
		await scene.act(await scene.payTo("wallet", order), await scene.closing(order));
		setRent(usual);
		expect(scene.balance(scene.wallet.address)).toBe(walletSol);
		// There are six signatures. The refused transaction pays its fee too, and the wallet signs one.
		expect(scene.balance(scene.payer.address)).toBe(payerSol - 6n * 5_000n);
	}
});

test("SOL that arrives before an order is prepared, or after it was paid, is the wallet's and not the payer's", async () => {
	const scene = await createScene();
	scene.svm.airdrop(scene.wallet.address, lamports(10_000_000_000n));
	const [thiefs, own] = [scene.balance(scene.thief.address), scene.balance(scene.wallet.address)];
	const order = scene.orderFrom({ inputToken: native, inputAmount: 1_000_000_000n });
	const fund = await scene.funding(order);
	await scene.act(fund);
	expect(
		(await scene.send([await prepareOrder(scene.program, order, scene.thief)], scene.thief)).error,
	).toBeUndefined();
	await scene.act(await openOrder(scene.program, order));
	await scene.act(await scene.decision("Refund", [order]), await scene.payTo("wallet", order), fund);
	scene.setTime(scene.start + 61n);
	const close = await closeOrder(scene.program, orderId(order), scene.thief.address);
	expect((await scene.send([close])).error).toBe("NotPaid");
	await scene.act(await scene.payTo("wallet", order), close);
	expect(scene.balance(scene.wallet.address)).toBe(own);
	expect(scene.balance(scene.thief.address)).toBe(thiefs - 5_000n);
});
