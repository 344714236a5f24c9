import {
	acceptVault,
	closeRecord,
	createVault,
	expireOrder,
	fillOrder,
	type Order,
	orderAddress,
	orderId,
	pauseVault,
	prepareOrder,
	recordAddress,
	setVaultCap,
	setVaultRoles,
	solanaNativeToken,
	toSolanaWord,
	vaultAddress,
	voidOrder,
	withdrawFromVault,
} from "@geoswap/protocol";
import { type Address, generateKeyPairSigner, type Instruction, lamports } from "@solana/kit";
import { getCreateAccountInstruction, getTransferSolInstruction } from "@solana-program/system";
import {
	AuthorityType,
	getInitializeAccount3Instruction,
	getSetAuthorityInstruction,
	TOKEN_PROGRAM_ADDRESS,
} from "@solana-program/token";
import { hexToBytes } from "viem";
import { expect, test } from "vitest";
import { createScene, native, type Scene } from "./scene.ts";
import { reads, tokensOf, writes } from "./test-helpers.ts";
import { withAccount } from "./with-account.ts";

function fill(scene: Scene, order: Order, amount = 950n, operator = scene.operator): Promise<Instruction> {
	return fillOrder(scene.program, order, { operator, amount });
}

function voiding(scene: Scene, order: Order): Promise<Instruction> {
	return voidOrder(scene.program, order, scene.operator);
}

async function recordOf(scene: Scene, order: Order) {
	const account = scene.svm.getAccount(await recordAddress(scene.program, orderId(order)));
	if (!account.exists) return undefined;
	const data = Buffer.from(account.data);
	const number = (at: number) => data.readBigUInt64LE(at);
	return { tag: data[0], state: data[1], amount: number(8), topUp: number(16), closableAt: number(24) };
}

/** Creates a vault that belongs to the thief, who is also one of its operators. */
async function thiefsVault(scene: Scene) {
	await scene.act(await createVault(scene.program, { payer: scene.payer, owner: scene.thief }));
	const vault = await vaultAddress(scene.program, scene.thief.address);
	const owned = { program: scene.program, vault, owner: scene.thief };
	await scene.act(
		setVaultRoles(owned, { operators: [scene.thief.address] }),
		setVaultCap(owned, scene.mint.address, 1_000_000n),
		setVaultCap(owned, solanaNativeToken, 1_000_000_000n),
	);
	return vault;
}

const recordRent = 1_336_320n;

test("an order from another chain is paid once, and its record and the log tell it", async () => {
	const scene = await createScene();
	const order = scene.orderTo();
	const { events } = await scene.act(await fill(scene, order));
	expect(await scene.tokens(scene.recipient.address)).toBe(950n);
	const number = (value: bigint) => {
		const bytes = Buffer.alloc(8);
		bytes.writeBigUInt64LE(value);
		return bytes;
	};
	const id = Buffer.from(hexToBytes(orderId(order)));
	expect(events).toEqual([[Buffer.from("filled"), id, number(950n), number(0n)]]);
	const closableAt = scene.start + 90_000n + 86_400n;
	expect(await recordOf(scene, order)).toEqual({ tag: 3, state: 1, amount: 950n, topUp: 0n, closableAt });
	for (const again of [
		await fill(scene, order),
		await fill(scene, order, 951n),
		await voiding(scene, order),
	]) {
		expect((await scene.send([again])).error).toBe("AlreadyDecided");
	}
	const twice = await fill(scene, scene.orderTo());
	expect((await scene.send([twice, twice])).error).toBe("AlreadyDecided");
	expect(await scene.tokens(scene.recipient.address)).toBe(950n);
});

test("a voided order is never paid", async () => {
	const scene = await createScene();
	const order = scene.orderTo();
	await scene.act(await voiding(scene, order));
	expect((await scene.send([await fill(scene, order)])).error).toBe("AlreadyDecided");
	expect(await recordOf(scene, order)).toMatchObject({ tag: 3, state: 2, amount: 0n });
});

test("SOL is paid from the vault's own account, which keeps its rent", async () => {
	const scene = await createScene();
	const order = scene.orderTo({ outputToken: native, minOutput: 1_000_000_000n });
	const before = scene.balance(scene.vault);
	await scene.act(await fill(scene, order, 1_500_000_000n));
	expect(scene.balance(scene.recipient.address)).toBe(1_500_000_000n);
	expect(scene.balance(scene.vault)).toBe(before - 1_500_000_000n - recordRent);
	const inventory = scene.balance(scene.vault) - scene.svm.minimumBalanceForRentExemption(1_160n);
	const take = async (amount: bigint) => {
		const to = scene.owner.address;
		return (await scene.send([withdrawFromVault(scene.owned, { amount, to })])).error;
	};
	expect(await take(inventory + 1n)).toBe("InsufficientInventory");
	expect(await take(2n ** 64n - 1n)).toBe("InsufficientInventory");
	expect(await take(inventory - recordRent)).toBeUndefined();
	const last = scene.orderTo({ outputToken: native, minOutput: 1n });
	expect((await scene.send([await fill(scene, last, 1n)])).error).toBe("InsufficientInventory");
	expect(await take(recordRent)).toBeUndefined();
	expect((await scene.send([await fill(scene, scene.orderTo())])).error).toBe("InsufficientInventory");
});

test("a top-up is paid beside the output, within the cap of SOL, or skipped if it cannot make an account", async () => {
	const scene = await createScene();
	const topped = async (topUp: bigint, terms: Partial<Order> = {}, amount = 950n) => {
		const order = scene.orderTo({ topUp, ...terms });
		const { error } = await scene.send([await fill(scene, order, amount)]);
		return error ?? (await recordOf(scene, order))?.topUp;
	};
	// An empty account must hold 890,880 lamports.
	expect(await topped(890_879n)).toBe(0n);
	expect(scene.balance(scene.recipient.address)).toBe(0n);
	expect(await topped(890_880n)).toBe(890_880n);
	expect(await topped(1n)).toBe(1n);
	expect(scene.balance(scene.recipient.address)).toBe(890_881n);
	expect(await scene.tokens(scene.recipient.address)).toBe(3n * 950n);
	// Together with an output of SOL a small one is paid too.
	const { address } = await generateKeyPairSigner();
	const toNew = { outputToken: native, recipient: toSolanaWord(address), minOutput: 1n };
	expect(await topped(5n, toNew, 890_875n)).toBe(5n);
	expect(scene.balance(address)).toBe(890_880n);
	// The rent of each record counts too, including that of the next one.
	const left = 5_000_000_000n - 890_881n - 890_880n - 5n * recordRent;
	expect(await topped(left + 1n)).toBe("OutflowCapExceeded");
	expect(await topped(left)).toBe(left);
	expect(await topped(1n)).toBe("OutflowCapExceeded");
	// The top-up is a term of the order, so no operator can leave it out.
	const order = scene.orderTo({ topUp: 7n });
	const paying = await fill(scene, order);
	const without = await fill(scene, { ...order, topUp: 0n });
	expect((await scene.send([{ ...paying, data: without.data ?? new Uint8Array() }])).error).toBe(
		"WrongAccount",
	);
});

test("only the order's recipient is paid, at least the order's minimum, by the order's vault", async () => {
	const scene = await createScene();
	const order = scene.orderTo();
	expect((await scene.send([await fill(scene, order, 899n)])).error).toBe("TooLittleDelivered");
	const free = scene.orderTo({ minOutput: 0n });
	expect((await scene.send([await fill(scene, free, 0n)])).error).toBe("TooLittleDelivered");
	const paying = await fill(scene, order);
	await scene.act(setVaultCap(scene.owned, scene.otherMint.address, 1_000_000n));
	const otherRecord = await recordAddress(scene.program, orderId(scene.orderTo()));
	for (const [i, address, error] of [
		// Another recipient, mint or record makes another order, whose record is elsewhere.
		[3, scene.thief.address, "WrongAccount"],
		[5, await tokensOf(scene.vault, scene.otherMint.address), "WrongAccount"],
		[2, otherRecord, "WrongAccount"],
		[6, await tokensOf(scene.thief.address, scene.mint.address), "WrongAccount"],
		[1, scene.thief.address, "WrongOwner"],
	] as const) {
		expect((await scene.send([withAccount(paying, i, address)])).error, `${i}`).toBe(error);
	}
	const data = new Uint8Array(paying.data ?? []);
	// Each byte except the amount's belongs to a term, which may be refused for its own value.
	const refusals = ["InvalidDeadlines", "FillExpired", "TooLittleDelivered", "OutflowCapExceeded"];
	const errors = ["WrongAccount", "WrongOwner", ...refusals];
	for (let i = 1; i < data.length - 8; i++) {
		const changed = data.slice();
		changed[i] = (changed[i] ?? 0) ^ 1;
		const { error } = await scene.send([{ ...paying, data: changed }]);
		expect(errors, `byte ${i}`).toContain(error);
	}
	// The thief's own vault is not the order's, and cannot sign for the inventory of another one.
	const vault = await thiefsVault(scene);
	const byThief = withAccount(await fill(scene, order, 950n, scene.thief), 1, vault);
	expect((await scene.send([byThief])).error).toBe("WrongAccount");
	const own = { destinationVault: toSolanaWord(vault), recipient: toSolanaWord(scene.thief.address) };
	scene.svm.airdrop(vault, lamports(1_000_000_000n));
	const inventory = await tokensOf(scene.vault, scene.mint.address);
	const stealing = withAccount(await fill(scene, scene.orderTo(own), 950n, scene.thief), 5, inventory);
	expect((await scene.send([stealing])).error).toMatch(/Tokenkeg\w+ failed: custom program error: 0x4/);
	await scene.act(paying);
	const record = await recordAddress(scene.program, orderId(order));
	const byRecord = withAccount(await fill(scene, scene.orderTo()), 1, record);
	expect((await scene.send([byRecord])).error).toBe("WrongOwner");
});

test("an account of the Token program that is not initialized is no inventory of SOL", async () => {
	const scene = await createScene();
	const newAccount = await generateKeyPairSigner();
	const place = {
		lamports: scene.svm.minimumBalanceForRentExemption(165n),
		space: 165,
		programAddress: TOKEN_PROGRAM_ADDRESS,
	};
	await scene.act(getCreateAccountInstruction({ payer: scene.payer, newAccount, ...place }));
	const paying = await fill(scene, scene.orderTo({ outputToken: native, minOutput: 1n }));
	const empty = writes(newAccount.address);
	const accounts = [...(paying.accounts ?? []), empty, empty, reads(TOKEN_PROGRAM_ADDRESS)];
	expect((await scene.send([{ ...paying, accounts }])).error).toBe("WrongAccount");
});

test("operators fill, nobody else; guardian and owner pause; the owner alone does the rest", async () => {
	const scene = await createScene();
	const { program, owned, thief, operator, guardian } = scene;
	const as = (owner: typeof thief) => ({ ...owned, owner });
	const errorOf = async (instruction: Instruction) => (await scene.send([instruction])).error;
	expect(await errorOf(await fill(scene, scene.orderTo(), 950n, thief))).toBe("NotOperator");
	expect(await errorOf(withAccount(await fill(scene, scene.orderTo()), 0, operator.address))).toBe(
		"NotOperator",
	);
	expect(await errorOf(withAccount(await voiding(scene, scene.orderTo()), 0, operator.address))).toBe(
		"NotOperator",
	);
	// An empty place in the list of operators is the zero key, which has no private key.
	expect(await errorOf(withAccount(await fill(scene, scene.orderTo()), 0, solanaNativeToken))).toBe(
		"NotOperator",
	);
	const from = await tokensOf(owned.vault, scene.mint.address);
	const to = await tokensOf(thief.address, scene.mint.address);
	for (const owner of [thief, operator, guardian].map(as)) {
		for (const instruction of [
			withdrawFromVault(owner, { amount: 1n, to, from }),
			withdrawFromVault(owner, { amount: 1n, to: thief.address }),
			setVaultCap(owner, scene.mint.address, 1n),
			setVaultRoles(owner, { operators: [thief.address] }),
			acceptVault(owner),
			pauseVault(owner, false),
		]) {
			expect(await errorOf(instruction)).toBe("NotVaultOwner");
		}
	}
	const withdraw = withdrawFromVault(owned, { amount: 5n, to, from });
	expect(await errorOf(withAccount(withdraw, 0, scene.owner.address))).toBe("NotVaultOwner");
	expect(await errorOf(pauseVault(as(thief), true))).toBe("NotVaultOwner");
	await scene.act(pauseVault(as(guardian), true));
	expect(await errorOf(await fill(scene, scene.orderTo()))).toBe("Paused");
	await scene.act(pauseVault(owned, false));
	await scene.act(await fill(scene, scene.orderTo()), withdraw);
	const pausing = pauseVault(owned, true);
	expect(await errorOf({ ...pausing, data: Uint8Array.of(14, 2) })).toBe("WrongDataLength");
	// A vault is created only with its owner's signature, and once.
	const create = await createVault(program, { payer: scene.payer, owner: thief });
	expect(await errorOf(withAccount(create, 1, thief.address))).toBe("MissingSignature");
	expect(await errorOf(await createVault(program, { payer: scene.payer, owner: scene.owner }))).toBeDefined();
	// Ownership moves in two steps.
	const roles = { pendingOwner: thief.address, operators: [operator.address] };
	await scene.act(setVaultRoles(owned, roles));
	expect(await errorOf(withAccount(acceptVault(as(thief)), 0, thief.address))).toBe("MissingSignature");
	await scene.act(acceptVault(as(thief)));
	expect(await errorOf(withdraw)).toBe("NotVaultOwner");
});

test("no more than the cap leaves at once, and what left drains in an hour", async () => {
	const scene = await createScene();
	const { owned } = scene;
	const deadlines =
		((scene.start + 1n) << 128n) | ((scene.start + 100_000n) << 64n) | (scene.start + 200_000n);
	const pay = async (amount: bigint) => {
		const order = scene.orderTo({ deadlines });
		return (await scene.send([await fill(scene, order, amount)])).error;
	};
	const exceeded = "OutflowCapExceeded";
	expect(await pay(10_000_001n)).toBe(exceeded);
	expect(await pay(10_000_000n)).toBeUndefined();
	expect(await pay(900n)).toBe(exceeded);
	// A tenth has drained.
	scene.setTime(scene.start + 360n);
	expect(await pay(1_000_001n)).toBe(exceeded);
	expect(await pay(1_000_000n)).toBeUndefined();
	expect(await pay(900n)).toBe(exceeded);
	// A lower cap applies immediately, and drains like any other. At most the cap itself counts as used.
	const setCap = (perHour: bigint) => setVaultCap(owned, scene.mint.address, perHour);
	await scene.act(setCap(10_000n));
	expect(await pay(900n)).toBe(exceeded);
	scene.setTime(scene.start + 720n);
	expect(await pay(1_001n)).toBe(exceeded);
	expect(await pay(1_000n)).toBeUndefined();
	await scene.act(setCap(1_000n));
	scene.setTime(scene.start + 720n + 3_600n);
	expect(await pay(1_000n)).toBeUndefined();
	await scene.act(setCap(0n));
	scene.setTime(scene.start + 8_000n);
	expect(await pay(900n)).toBe(exceeded);
	expect(await pay(2n ** 64n - 1n)).toBe(exceeded);
	expect((await scene.send([setCap(2n ** 64n / 3_600n + 1n)])).error).toBe("Overflow");
	// The maximum cap neither overflows nor wraps, regardless of how long nothing left.
	const most = (2n ** 64n - 1n) / 3_600n;
	await scene.act(await scene.mintTo(scene.vault, 2n * most), setCap(most));
	expect(await pay(most)).toBeUndefined();
	expect(await pay(900n)).toBe(exceeded);
	scene.setTime(scene.start + 8_000n + 7_200n);
	expect(await pay(most)).toBeUndefined();
	const newCap = async () => setVaultCap(owned, (await generateKeyPairSigner()).address, 1n);
	for (let i = 0; i < 14; i++) await scene.act(await newCap());
	expect((await scene.send([await newCap()])).error).toBe("TooManyAssets");
});

test("a cap that is set to zero and back does not forget what has left, and its place is not given to another token", async () => {
	const scene = await createScene();
	const { owned } = scene;
	const setCap = (token: Address, perHour: bigint) => setVaultCap(owned, token, perHour);
	const { address: mint } = scene.mint;
	await scene.act(await fill(scene, scene.orderTo(), 10_000_000n), setCap(mint, 0n));
	for (let i = 0; i < 14; i++) await scene.act(setCap((await generateKeyPairSigner()).address, 1n));
	const another = setCap((await generateKeyPairSigner()).address, 1n);
	expect((await scene.send([another])).error).toBe("TooManyAssets");
	await scene.act(setCap(mint, 10_000_000n));
	expect((await scene.send([await fill(scene, scene.orderTo())])).error).toBe("OutflowCapExceeded");
	await scene.act(setCap(mint, 0n));
	scene.setTime(scene.start + 3_599n);
	expect((await scene.send([another])).error).toBe("TooManyAssets");
	scene.setTime(scene.start + 3_600n);
	await scene.act(another);
});

test("records are paid for within the cap of SOL, so that an operator cannot lock all of it", async () => {
	const scene = await createScene();
	await scene.act(setVaultCap(scene.owned, solanaNativeToken, 2n * recordRent));
	await scene.act(await voiding(scene, scene.orderTo()), await fill(scene, scene.orderTo()));
	for (const next of [await voiding(scene, scene.orderTo()), await fill(scene, scene.orderTo())]) {
		expect((await scene.send([next])).error).toBe("OutflowCapExceeded");
	}
});

test("a recipient that gave its token account away is paid to another one of its own", async () => {
	const scene = await createScene();
	const newAccount = await generateKeyPairSigner();
	const space = 165;
	const rent = scene.svm.minimumBalanceForRentExemption(BigInt(space));
	const place = { lamports: rent, space, programAddress: TOKEN_PROGRAM_ADDRESS };
	const held = { mint: scene.mint.address, owner: scene.recipient.address };
	await scene.act(
		getCreateAccountInstruction({ payer: scene.payer, newAccount, ...place }),
		getInitializeAccount3Instruction({ account: newAccount.address, ...held }),
	);
	const instead = { operator: scene.operator, amount: 950n, instead: newAccount.address };
	const toOther = await fillOrder(scene.program, scene.orderTo(), instead);
	expect((await scene.send([toOther])).error).toBe("WrongAccount");
	await scene.act(
		getSetAuthorityInstruction({
			owned: await tokensOf(scene.recipient.address, scene.mint.address),
			owner: scene.recipient,
			authorityType: AuthorityType.AccountOwner,
			newAuthority: scene.thief.address,
		}),
	);
	expect((await scene.send([await fill(scene, scene.orderTo())])).error).toBe("WrongAccount");
	await scene.act(toOther);
	expect(scene.tokensIn(newAccount.address)).toBe(950n);
});

test("at most twice the cap leaves in any hour", async () => {
	const scene = await createScene();
	const before = await scene.tokens(scene.vault);
	for (let minute = 0n; minute <= 60n; minute++) {
		scene.setTime(scene.start + minute * 60n - (minute === 60n ? 1n : 0n));
		const amount = minute === 0n ? 10_000_000n : 10_000_000n / 60n;
		const deadlines =
			((scene.start + 1n) << 128n) | ((scene.start + 20_000n) << 64n) | (scene.start + 90_000n);
		await scene.send([await fill(scene, scene.orderTo({ deadlines }), amount)]);
	}
	const left = before - (await scene.tokens(scene.vault));
	expect(left).toBeGreaterThan(19_000_000n);
	expect(left).toBeLessThanOrEqual(20_000_000n);
});

test("a record's rent comes from the vault and returns to it, once neither a fill nor an attestation can follow", async () => {
	const scene = await createScene();
	const order = scene.orderTo();
	const sol = scene.balance(scene.vault);
	await scene.act(await fill(scene, order));
	expect(scene.balance(scene.vault)).toBe(sol - recordRent);
	const close = await closeRecord(scene.program, orderId(order), scene.vault);
	scene.setTime(scene.start + 3_600n);
	expect((await scene.send([await fill(scene, scene.orderTo())])).error).toBe("FillExpired");
	expect((await scene.send([close])).error).toBe("TooEarly");
	scene.setTime(scene.start + 90_000n + 86_399n);
	expect((await scene.send([close])).error).toBe("TooEarly");
	scene.setTime(scene.start + 90_000n + 86_400n);
	expect((await scene.send([withAccount(close, 1, scene.thief.address)])).error).toBe("WrongAccount");
	expect((await scene.send([close], scene.thief)).error).toBeUndefined();
	expect(scene.balance(scene.vault)).toBe(sol);
	expect((await scene.send([await fill(scene, order)])).error).toBe("FillExpired");
	expect((await scene.send([await voiding(scene, order)])).error).toBe("FillExpired");
	expect((await scene.send([close])).error).toBe("WrongOwner");
});

test("lamports that were sent to a record's address before do no harm, and stay with the vault", async () => {
	const scene = await createScene();
	for (const amount of [1_000_000n, 5_000_000n]) {
		const order = scene.orderTo();
		const sol = scene.balance(scene.vault);
		const destination = await recordAddress(scene.program, orderId(order));
		await scene.act(getTransferSolInstruction({ source: scene.thief, destination, amount }));
		await scene.act(await fill(scene, order));
		const missing = amount > recordRent ? 0n : recordRent - amount;
		expect(scene.balance(scene.vault)).toBe(sol - missing);
	}
});

test("an order with deadlines out of sequence, or that outlasts every order, is neither filled nor voided", async () => {
	const scene = await createScene();
	const { start } = scene;
	const times = (open: bigint, fillBy: bigint, refund: bigint) => (open << 128n) | (fillBy << 64n) | refund;
	const last = 2n ** 64n - 1n;
	for (const deadlines of [
		times(1n, start + 864_000n, start + 1n),
		times(start + 10n, start + 10n, start + 20n),
		times(start + 1n, start + 2n, start + 345_601n),
		times(last - 2n, last - 1n, last),
	]) {
		const order = scene.orderTo({ deadlines });
		expect((await scene.send([await fill(scene, order)])).error).toBe("InvalidDeadlines");
		expect((await scene.send([await voiding(scene, order)])).error).toBe("InvalidDeadlines");
	}
	await scene.act(
		await fill(scene, scene.orderTo({ deadlines: times(start + 1n, start + 2n, start + 345_600n) })),
	);
});

test("an order within Solana is delivered and released in one", async () => {
	const scene = await createScene();
	const order = scene.orderWithin({ topUp: 1_000_000n });
	expect((await scene.send([await fill(scene, order)])).error).toBe("WrongOwner");
	await scene.act(await prepareOrder(scene.program, order, scene.payer));
	expect((await scene.send([await fill(scene, order)])).error).toBe("NotOpen");
	await scene.act(...(await scene.opening(order)));
	const inventory = await scene.tokens(scene.vault);
	const { events } = await scene.act(await fill(scene, order), await scene.payTo("vault", order));
	expect(events.map(([name]) => String(name))).toEqual(["filled", "decided"]);
	expect(await scene.tokens(scene.recipient.address)).toBe(950n);
	expect(scene.balance(scene.recipient.address)).toBe(1_000_000n);
	expect(await scene.tokens(scene.vault)).toBe(inventory - 950n + 1_000n);
	expect((await scene.send([await fill(scene, order)])).error).toBe("NotOpen");
	expect((await scene.send([await voiding(scene, order)])).error).toBe("WrongOrigin");

	const refunded = scene.orderWithin();
	const by = { vault: scene.vault, operator: scene.operator };
	const expire = await expireOrder(scene.program, orderId(refunded), by);
	await scene.act(...(await scene.opening(refunded)), expire);
	expect((await scene.send([await fill(scene, refunded)])).error).toBe("NotOpen");

	const [one, other] = [scene.orderWithin(), scene.orderWithin()];
	await scene.act(...(await scene.opening(one)));
	await scene.act(...(await scene.opening(other)));
	const otherAddress = await orderAddress(scene.program, orderId(other));
	expect((await scene.send([withAccount(await fill(scene, one), 2, otherAddress)])).error).toBe(
		"WrongAccount",
	);
	const elsewhere = scene.orderWithin({ originVault: toSolanaWord(scene.thief.address) });
	await scene.act(...(await scene.opening(elsewhere)));
	expect((await scene.send([await fill(scene, elsewhere)])).error).toBe("WrongOrigin");
	// An order that claims this chain as its origin gets no record.
	const record = await recordAddress(scene.program, orderId(one));
	expect((await scene.send([withAccount(await fill(scene, one), 2, record)])).error).toBe("WrongOwner");
});
