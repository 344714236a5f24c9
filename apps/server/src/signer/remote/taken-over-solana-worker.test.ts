import { solanaFeeds, startTestChains, type TestChains } from "@geoswap/devnet";
import type { RemoteClient } from "@geoswap/keys/backend/remote-client";
import { kitSignerOf } from "@geoswap/keys/kit-signer-of";
import {
	closeRecord,
	createTokenAccount,
	expireOrder,
	fillOrder,
	fromSolanaWord,
	fundOrder,
	type Order,
	openOrder,
	orderId,
	orderToJson,
	type ProgramDeployment,
	payOrder,
	prepareOrder,
	type SolanaAddress,
	setVaultCap,
	setVaultRoles,
	solanaNativeToken,
	tokenAccountOf,
	toSolanaWord,
	vaultAddress,
	voidOrder,
	withdrawFromVault,
} from "@geoswap/protocol";
import {
	AccountRole,
	createNoopSigner,
	generateKeyPairSigner,
	getCompiledTransactionMessageDecoder,
	type Instruction,
} from "@solana/kit";
import { COMPUTE_BUDGET_PROGRAM_ADDRESS } from "@solana-program/compute-budget";
import { getTransferSolInstruction } from "@solana-program/system";
import {
	AuthorityType,
	getSetAuthorityInstruction,
	getTransferCheckedInstruction,
} from "@solana-program/token";
import { bytesToHex, toHex, zeroHash } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSolanaScene, type SolanaScene } from "../../../test/lane/solana-lane-scene.ts";
import { compileMessage } from "../../../test/signer/compile-message.ts";
import { recordSolanaLanes, type SolanaPayload } from "../../../test/signer/solana-lane-payloads.ts";
import { noCap, startTestSigner, type TestSigner } from "../../../test/signer/start-test-signer.ts";
import { messageMutations } from "../../../test/solana/message-mutations.ts";

const rounds = process.env.GEOSWAP_FULL ? 20 : 1;
/** The minimum number of different forgeries. */
const least = process.env.GEOSWAP_FULL ? 1_000 : 300;

let chains: TestChains;
let scene: SolanaScene;
let program: ProgramDeployment;
let payloads: SolanaPayload[];
/** A signer with caps that are never reached, so that only its rules refuse. */
let signer: TestSigner;
let aheadMs = 0;
beforeAll(async () => {
	chains = await startTestChains();
	const feeds = solanaFeeds(chains.origin.deployment);
	scene = await createSolanaScene({ slotMs: 3_600_000, feeds });
	const { program: deployed } = scene.solana.deployment;
	if (!deployed) throw new Error("the devnet has the program");
	program = deployed;
	signer = await startSolanaSigner({});
	const backend = signer.backendOf("worker");
	const open = async (rest: string) =>
		kitSignerOf(await backend.openSolana({ name: { reference: `remote:${rest}`, backend: "remote" }, rest }));
	// The lanes sign through the signer, over the network.
	payloads = await recordSolanaLanes(scene, {
		program,
		evm: chains.origin.deployment,
		keys: { feePayers: [await open("fee-payer-0")], operator: await open("operator") },
		passTime: async (seconds) => {
			aheadMs += seconds * 1_000;
			await scene.solana.admin.passTime({ seconds });
		},
	});
}, 240_000);
afterAll(async () => {
	await signer?.stop();
	await scene?.stop();
	await chains?.stop();
});

type Cap = { perHour: string; perDay: string };
const capOf = (amount: bigint): Cap => ({ perHour: String(amount), perDay: String(amount) });

/** Starts a signer without nodes, for which no deposit on an EVM chain is proven. */
function startSolanaSigner({
	usdc = noCap,
	sol = noCap,
	fees = noCap,
}: {
	usdc?: Cap;
	sol?: Cap;
	fees?: Cap;
}): Promise<TestSigner> {
	const { keys, deployment } = scene.solana;
	const common = { clients: ["worker"], signaturesPerHour: 100_000 };
	const caps = { [deployment.settlementToken]: usdc, [solanaNativeToken]: sol };
	const outflow = Object.fromEntries(
		deployment.assets.map(({ address }) => {
			const cap = caps[address] ?? noCap;
			return [address, { ...cap, unproven: cap }];
		}),
	);
	const feePayers = keys.feePayers.map((_, i) => [
		`fee-payer-${i}`,
		{ use: "solana-fee-payer", reference: `env:FEE_PAYER_${i}`, ...common, feesLamports: fees },
	]);
	return startTestSigner({
		deployment: { ...chains.deployment, solana: deployment },
		nowMs: () => Date.now() + aheadMs,
		secrets: {
			...Object.fromEntries(keys.feePayers.map((key, i) => [`FEE_PAYER_${i}`, key.slice(0, 32)])),
			OPERATOR: keys.operator.slice(0, 32),
		},
		config: {
			solana: { outflow },
			keys: {
				...Object.fromEntries(feePayers),
				operator: { use: "solana-operator", reference: "env:OPERATOR", ...common },
			},
		},
	});
}

/**
 * Mutations whose result a lane can make as well, by the kind of the message. A lane pays what was decided earlier, and
 * accounts that exist. A sweep is a list of any accounts. The program returns their rent to the account that paid it,
 * or fails.
 */
const isAlsoMade: Record<string, string[]> = {
	fill: ["an instruction removed"],
	release: ["an instruction removed"],
	refund: ["an instruction removed"],
	close: [
		"an instruction removed",
		"an instruction repeated",
		"instructions in another order",
		"accounts swapped",
		"another account",
		// The mutation also makes the fee payer an account that is closed, which the program refuses.
		"the transfer's last account as fee payer",
	],
};

/** Returns the names of the service's keys that must sign a message. */
function keysFor(message: Uint8Array): string[] {
	const { staticAccounts, header } = getCompiledTransactionMessageDecoder().decode(message);
	const { feePayers } = scene.chain.deployment;
	return staticAccounts.slice(0, header.numSignerAccounts).flatMap((address) => {
		if (address === program.operator) return ["operator"];
		const index = feePayers.indexOf(address);
		return index < 0 ? [] : [`fee-payer-${index}`];
	});
}

/** One connection to each signer. */
const clients = new Map<string, RemoteClient>();

async function ask(from: TestSigner, key: string, { message, order }: Omit<SolanaPayload, "kind">) {
	const text = Buffer.from(message).toString("base64");
	const payload = { kind: "message", message: text, ...(order && { order: orderToJson(order) }) };
	const client = clients.get(from.url) ?? from.clientOf("worker");
	clients.set(from.url, client);
	const { status, body } = await client.post(`/sign/${key}`, payload);
	return { status, ...(body as { reason?: string; message?: string; signature?: string }) };
}

/** Returns a payload of a kind whose order, if it names one, meets the condition. */
function payloadOf(kind: string, isMeant: (order: Order) => boolean = () => true) {
	const payload = payloads.find((one) => one.kind === kind && (!one.order || isMeant(one.order)));
	if (!payload?.order) throw new Error(`no ${kind} was recorded`);
	return { ...payload, order: payload.order };
}
const isWithin = ({ originChainId, destinationChainId }: Order) => originChainId === destinationChainId;

test("every message that real lanes made is signed by each of its keys, and the same message gets the same signature", async () => {
	expect(new Set(payloads.map(({ kind }) => kind))).toEqual(
		new Set(["open", "fill", "void", "release", "refund", "close"]),
	);
	expect(signer.lines.filter(({ msg }) => msg === "refused")).toEqual([]);
	expect(payloads.filter(({ kind }) => kind === "refund")).toHaveLength(4);
	for (const payload of payloads) {
		for (const key of keysFor(payload.message)) {
			const first = await ask(signer, key, payload);
			expect({ kind: payload.kind, key, ...first }).toMatchObject({ key, status: 200 });
			expect(await ask(signer, key, payload)).toEqual(first);
		}
	}
}, 120_000);

test("a worker that was taken over gets no forged message signed, even if no cap or proof prevents it", async () => {
	let turn = 1;
	const dice = (below: number) => {
		turn = (turn * 48_271) % 2_147_483_647;
		return turn % below;
	};
	const signed: string[] = [];
	const reasons = new Map<string, number>();
	const seen = new Set<string>();
	/** Sends a message to its keys. It can land only if all of them sign it. */
	const offer = async (name: string, keys: readonly string[], forged: Omit<SolanaPayload, "kind">) => {
		const id = `${keys.join()}/${bytesToHex(forged.message)}`;
		if (seen.has(id)) return;
		seen.add(id);
		for (const key of keys) {
			const { status, reason = "none" } = await ask(signer, key, forged);
			if (status === 200) continue;
			reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
			return;
		}
		signed.push(`${name} by ${keys.join(", ")}: ${bytesToHex(forged.message)}`);
	};
	for (let round = 0; round < rounds; round++) {
		const thief = await generateKeyPairSigner();
		for (const payload of payloads) {
			const keys = keysFor(payload.message);
			for (const [name, message] of Object.entries(await forgeriesOf(payload, thief.address)))
				await offer(name, keys, { ...payload, message });
			for (const [name, mutate] of Object.entries(messageMutations)) {
				if (isAlsoMade[payload.kind]?.includes(name)) continue;
				const message = mutateSafely(mutate, payload.message, dice);
				if (message && isForged(payload, message)) await offer(name, keys, { ...payload, message });
			}
			for (const key of ["fee-payer-1", "operator"].filter((one) => !keys.includes(one)))
				await offer("a key that the message does not need", [key], payload);
		}
	}
	expect(signed).toEqual([]);
	console.log(`${seen.size} forged messages refused:`, Object.fromEntries(reasons));
	expect(seen.size).toBeGreaterThanOrEqual(least);
}, 240_000);

test("a hostile order is refused: one of another program, vault, set of attesters or asset, or by or for ourselves", async () => {
	const thief = await generateKeyPairSigner();
	const { address } = program;
	const theirVault = toSolanaWord(await vaultAddress(address, thief.address));
	const [payer, operator] = [createNoopSigner(feePayer()), createNoopSigner(program.operator)];
	const stranger = toSolanaWord(thief.address);
	const opening = payloadOf("open");
	const opened = async (terms: Partial<Order>, of = address) => {
		const order = { ...opening.order, ...terms };
		const wallet = createNoopSigner(fromSolanaWord(order.wallet));
		const message = compileMessage(opening.message, [
			await prepareOrder(of, order, payer),
			await fundOrder(of, order, { wallet, decimals: 6 }),
			await openOrder(of, order),
		]);
		return (await ask(signer, "fee-payer-0", { message })).reason;
	};
	expect(await opened({ originVault: theirVault })).toBe("not-ours");
	expect(await opened({ escrow: stranger }, thief.address)).toBe("not-ours");
	expect(await opened({ attesterSet: zeroHash })).toBe("not-ours");
	expect(await opened({ destinationVault: stranger })).toBe("not-ours");
	expect(await opened({ inputToken: stranger })).toBe("not-ours");
	expect(await opened({ wallet: toSolanaWord(program.operator) })).toBe("not-ours");

	const filling = payloadOf("fill", (order) => !isWithin(order));
	const filled = async (terms: Partial<Order>, of = address, amount = 10n ** 10n) => {
		const order = { ...filling.order, ...terms };
		const message = compileMessage(filling.message, [await fillOrder(of, order, { operator, amount })]);
		return (await ask(signer, "operator", { message })).reason;
	};
	expect(await filled({})).toBeUndefined();
	expect(await filled({}, address, filling.order.minOutput - 1n)).toBe("malformed");
	expect(await filled({ destinationVault: theirVault })).toBe("malformed");
	expect(await filled({}, thief.address)).toBe("not-ours");
	expect(await filled({ attesterSet: zeroHash })).toBe("not-ours");
	expect(await filled({ escrow: stranger })).toBe("not-ours");
	expect(await filled({ originVault: stranger })).toBe("not-ours");
	expect(await filled({ inputToken: toHex(1n, { size: 32 }) })).toBe("not-ours");
	expect(await filled({ recipient: toSolanaWord(feePayer()) })).toBe("malformed");

	const voided = async (terms: Partial<Order>) => {
		const order = { ...filling.order, ...terms };
		const message = compileMessage(filling.message, [await voidOrder(address, order, operator)]);
		return (await ask(signer, "operator", { message })).reason;
	};
	expect(await voided({})).toBeUndefined();
	expect(await voided({ destinationVault: theirVault })).toBe("malformed");
	const rent = await closeRecord(address, orderId(filling.order), thief.address);
	const sweep = compileMessage(opening.message, [rent]);
	expect(await ask(signer, "fee-payer-0", { message: sweep })).toMatchObject({ reason: "not-ours" });
});

test("the operator refunds within Solana only, and no decision is paid for that attesters have not signed", async () => {
	const { address, vault } = program;
	const operator = createNoopSigner(program.operator);
	const ended = async (key: string, order: Order, instructions: Instruction[], named = order) => {
		const message = compileMessage(payloadOf("refund").message, instructions);
		return (await ask(signer, key, { message, order: named })).reason;
	};
	const within = payloadOf("refund", isWithin).order;
	const across = payloadOf("refund", (order) => !isWithin(order)).order;
	const expired = async (order: Order) => [
		await expireOrder(address, orderId(order), { vault, operator }),
		await payOrder(address, order, { to: "wallet" }),
	];
	expect(await ended("operator", within, await expired(within))).toBeUndefined();
	expect(await ended("operator", across, await expired(across))).toBe("malformed");
	// The message must be about the order that the caller names.
	expect(await ended("operator", across, await expired(across), within)).toBe("malformed");
	expect(
		await ended("operator", within, [
			await expireOrder(address, orderId(within), { vault: fromSolanaWord(across.wallet), operator }),
			await payOrder(address, within, { to: "wallet" }),
		]),
	).toBe("malformed");
	const released = payloadOf("release");
	const other = { ...released.order, swapKey: toHex(1n, { size: 32 }) };
	const message = compileMessage(released.message, (own) => own, { microLamports: 1n });
	expect(await ask(signer, "fee-payer-0", { message, order: other })).toMatchObject({ reason: "malformed" });
	expect(await ask(signer, "fee-payer-0", { message })).toMatchObject({ reason: "malformed" });
	const replayed = compileMessage(released.message, ([decide]) => [decide as Instruction]);
	expect(await ask(signer, "fee-payer-0", { message: replayed, order: released.order })).toMatchObject({
		reason: "malformed",
	});
});

test("with all keys of the worker a thief gets at most the caps: of tokens, of SOL with records' rent, and of fees", async () => {
	const thief = await generateKeyPairSigner();
	const capped = await startSolanaSigner({
		usdc: capOf(50_000_000n),
		sol: capOf(10_000_000n),
		fees: capOf(20_000_000n),
	});
	try {
		const filling = payloadOf("fill", (order) => !isWithin(order) && order.outputToken !== zeroHash);
		const [payer, operator] = [createNoopSigner(feePayer()), createNoopSigner(program.operator)];
		const token = fromSolanaWord(filling.order.outputToken);
		const paid = { USDC: 0n, records: 0n, fees: 0n };
		const reasons = new Set<string | undefined>();
		for (let i = 1n; i <= 12n; i += 1n) {
			if (i === 4n) await capped.restart();
			const order = {
				...filling.order,
				recipient: toSolanaWord(thief.address),
				swapKey: toHex(i, { size: 32 }),
			};
			const fill = await fillOrder(program.address, order, { operator, amount: 9_900_000n });
			const account = await createTokenAccount({ payer, owner: thief.address, token });
			const message = compileMessage(filling.message, [account, fill]);
			const byOperator = await ask(capped, "operator", { message });
			if (byOperator.status === 200) {
				paid.USDC += 9_900_000n;
				paid.records += 1_336_320n;
			} else reasons.add(byOperator.reason);
			const voiding = compileMessage(filling.message, [
				await voidOrder(program.address, { ...order, swapKey: toHex(i + 100n, { size: 32 }) }, operator),
			]);
			const byVoid = await ask(capped, "operator", { message: voiding });
			if (byVoid.status === 200) paid.records += 1_336_320n;
			else reasons.add(byVoid.reason);
			const byPayer = await ask(capped, "fee-payer-0", { message });
			if (byPayer.status === 200) paid.fees += 2_039_280n;
			else reasons.add(byPayer.reason);
		}
		expect(paid.USDC).toBeGreaterThan(0n);
		expect(paid.USDC).toBeLessThanOrEqual(50_000_000n);
		expect(paid.records).toBe(7n * 1_336_320n);
		expect(paid.fees).toBe(9n * 2_039_280n);
		expect(reasons).toEqual(new Set(["above-cap", "key-above-cap"]));
	} finally {
		await capped.stop();
	}
});

function feePayer(): SolanaAddress {
	const [first] = scene.chain.deployment.feePayers;
	if (!first) throw new Error("the deployment has a fee payer");
	return first;
}

function mutateSafely(
	mutate: (typeof messageMutations)[string],
	message: Uint8Array,
	dice: (below: number) => number,
) {
	try {
		return mutate(message, dice);
	} catch {
		return undefined;
	}
}

/**
 * Returns true if no rule can allow a mutated message. Otherwise a lane could also have made it, with another
 * blockhash, lower fees, another amount of a fill or, if it is a sweep, other accounts.
 */
function isForged({ kind, message }: SolanaPayload, forged: Uint8Array): boolean {
	return shapeOf(kind, message) !== (shapeOf(kind, forged) ?? "not a message");
}

/** Returns what the rules fix in a message. */
function shapeOf(kind: string, message: Uint8Array): string | undefined {
	try {
		const compiled = getCompiledTransactionMessageDecoder().decode(message);
		if (compiled.version !== 0) return undefined;
		const { staticAccounts, header, instructions, version, addressTableLookups } = compiled;
		const fixed = (programAddress: SolanaAddress | undefined, data: Uint8Array) => {
			if (programAddress === COMPUTE_BUDGET_PROGRAM_ADDRESS) return [data[0], data.length];
			return bytesToHex(kind === "fill" && data[0] === 16 ? data.slice(0, -8) : data);
		};
		const calls = instructions.map(({ programAddressIndex, accountIndices, data }) => [
			programAddressIndex,
			accountIndices,
			fixed(staticAccounts[programAddressIndex], new Uint8Array(data ?? [])),
		]);
		const named = kind === "close" ? [staticAccounts[0], program.vault] : staticAccounts;
		return JSON.stringify([named, header, version, calls, addressTableLookups, message.length]);
	} catch {
		return undefined;
	}
}

/** Returns forgeries of a message that would take money or rights. */
async function forgeriesOf(
	{ kind, message }: SolanaPayload,
	thief: SolanaAddress,
): Promise<Record<string, Uint8Array>> {
	const { settlementToken: mint } = scene.chain.deployment;
	const { address, vault } = program;
	const theirs = await tokenAccountOf({ owner: thief, token: mint });
	const forged: Record<string, Uint8Array> = {};
	const add = (name: string, extra: Instruction) => {
		forged[`${name}, added`] = compileMessage(message, (own) => [...own, extra]);
		forged[`${name}, before`] = compileMessage(message, (own) => [extra, ...own]);
		forged[`${name}, alone`] = compileMessage(message, [extra]);
	};
	for (const [name, key] of Object.entries({ operator: program.operator, "fee payer": feePayer() })) {
		const owner = createNoopSigner(key);
		const source = await tokenAccountOf({ owner: key, token: mint });
		const to = { mint, destination: theirs, decimals: 6 };
		add(
			`lamports of the ${name}`,
			getTransferSolInstruction({ source: owner, destination: thief, amount: 1n }),
		);
		add(
			`tokens of the ${name}`,
			getTransferCheckedInstruction({ source, ...to, authority: owner, amount: 1n }),
		);
		const authorityType = AuthorityType.AccountOwner;
		add(
			`another owner of the ${name}'s account`,
			getSetAuthorityInstruction({ owned: source, owner, authorityType, newAuthority: thief }),
		);
		const owned = { program: address, vault, owner };
		add(`a withdrawal by the ${name}`, withdrawFromVault(owned, { amount: 1n, to: thief }));
		add(`a cap by the ${name}`, setVaultCap(owned, mint, 2n ** 50n));
		add(`operators by the ${name}`, setVaultRoles(owned, { operators: [thief] }));
		add(`a program of the thief's with the ${name}`, {
			programAddress: thief,
			accounts: [{ address: key, role: AccountRole.WRITABLE_SIGNER }],
			data: new Uint8Array([1]),
		});
	}
	forged["another fee payer"] = compileMessage(message, (own) => own, { feePayer: thief });
	forged["a dearer compute unit"] = compileMessage(message, (own) => own, { microLamports: 5_000_001n });
	forged["too many compute units"] = compileMessage(message, (own) => own, { units: 1_400_000 });
	// A sweep is a list of any length.
	if (kind === "close") return forged;
	forged["the last instruction removed"] = compileMessage(message, (own) => own.slice(0, -1));
	forged["the last instruction repeated"] = compileMessage(message, (own) => [...own, ...own.slice(-1)]);
	return forged;
}
