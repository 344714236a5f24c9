import {
	type Deployment,
	fromSolanaWord,
	markerAddress,
	type Order,
	orderId,
	orderToJson,
	type SolanaAddress,
	tokenAccountOf,
} from "@geoswap/protocol";
import {
	AccountRole,
	createNoopSigner,
	decompileTransactionMessage,
	generateKeyPairSigner,
	getCompiledTransactionMessageDecoder,
	type Instruction,
} from "@solana/kit";
import { getTransferSolInstruction } from "@solana-program/system";
import {
	AuthorityType,
	getApproveInstruction,
	getCloseAccountInstruction,
	getSetAuthorityInstruction,
	getTransferCheckedInstruction,
} from "@solana-program/token";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSolanaLanes, type SolanaLanes } from "../../../test/lane/solana-lanes.ts";
import { compileMessage } from "../../../test/signer/compile-message.ts";
import {
	type RecordedSolanaLanes,
	recordSolanaLanes,
	type SolanaPayload,
} from "../../../test/signer/solana-lane-payloads.ts";
import { noCap, startTestSigner, type TestSigner } from "../../../test/signer/start-test-signer.ts";
import { messageMutations } from "../../../test/solana/message-mutations.ts";
import { markerInstructions } from "../../chain/solana/marker/marker-instructions.ts";
import type { RemoteClient } from "../backend/remote-client.ts";

const rounds = process.env.GEOSWAP_FULL ? 20 : 1;
/** The least number of different forgeries. */
const least = process.env.GEOSWAP_FULL ? 1_000 : 300;
const dayMs = 86_400_000;

let lanes: SolanaLanes;
let recorded: RecordedSolanaLanes;
/** Signers that do and do not pay what they cannot prove. There is no EVM chain here to prove a payout by. */
let lenient: TestSigner;
let strict: TestSigner;
let aheadMs = 0;
beforeAll(async () => {
	lanes = await createSolanaLanes();
	recorded = await recordSolanaLanes(lanes);
	lenient = await startSolanaSigner({ unproven: noCap });
	strict = await startSolanaSigner({});
}, 240_000);
afterAll(async () => {
	await lenient?.stop();
	await strict?.stop();
	await lanes?.stop();
});

function startSolanaSigner(unproven: object): Promise<TestSigner> {
	const { keys, rpcUrl, deployment: deployed } = lanes.solana;
	const deployment: Deployment = { chains: [], solana: deployed };
	const common = { clients: ["worker"], signaturesPerHour: 100_000 };
	const caps = Object.fromEntries(deployed.assets.map(({ address }) => [address, { ...noCap, ...unproven }]));
	const feePayers = keys.feePayers.map((_, i) => [
		`fee-payer-${i}`,
		{ use: "solana-fee-payer", reference: `env:FEE_PAYER_${i}`, ...common, feesLamports: noCap },
	]);
	return startTestSigner({
		deployment,
		nowMs: () => Date.now() + aheadMs,
		secrets: {
			...Object.fromEntries(keys.feePayers.map((key, i) => [`FEE_PAYER_${i}`, key.slice(0, 32)])),
			ESCROW: keys.escrow.slice(0, 32),
			VAULT: keys.vault.slice(0, 32),
		},
		config: {
			solana: { rpcUrl, outflow: caps, refunds: caps, markerSeconds: 86_400 },
			keys: {
				...Object.fromEntries(feePayers),
				escrow: { use: "solana-escrow", reference: "env:ESCROW", ...common },
				vault: { use: "solana-vault", reference: "env:VAULT", ...common },
			},
		},
	});
}

/** Returns the names of our keys that must sign a message. */
function keysFor(message: Uint8Array): string[] {
	const { staticAccounts, header } = getCompiledTransactionMessageDecoder().decode(message);
	const { feePayers, escrow, vault } = lanes.chain.deployment;
	return staticAccounts.slice(0, header.numSignerAccounts).flatMap((address) => {
		if (address === escrow) return ["escrow"];
		if (address === vault) return ["vault"];
		const index = feePayers.indexOf(address);
		return index < 0 ? [] : [`fee-payer-${index}`];
	});
}

/** One connection to each signer. */
const clients = new Map<TestSigner, RemoteClient>();

async function ask(signer: TestSigner, key: string, message: Uint8Array, order?: Order) {
	const text = Buffer.from(message).toString("base64");
	const payload = { kind: "message", message: text, ...(order && { order: orderToJson(order) }) };
	const client = clients.get(signer) ?? signer.clientOf("worker");
	clients.set(signer, client);
	const { status, body } = await client.post(`/sign/${key}`, payload);
	return { status, ...(body as { reason?: string; message?: string; signature?: string }) };
}

test("every message that real lanes made is signed by each of its keys, and a marker is closed only when it is old", async () => {
	const kinds = new Set(recorded.payloads.map(({ kind }) => kind));
	expect(kinds).toEqual(new Set(["open", "fill", "void", "release", "refund", "close"]));
	for (const { kind, message } of recorded.payloads) {
		if (kind === "close") {
			expect(await ask(lenient, "vault", message)).toMatchObject({ status: 403, reason: "marker-young" });
			aheadMs = 2 * dayMs;
		}
		for (const key of keysFor(message)) {
			const first = await ask(lenient, key, message);
			expect({ kind, key, ...first }).toMatchObject({ kind, key, status: 200 });
			expect(await ask(lenient, key, message)).toEqual(first);
		}
		aheadMs = 0;
	}
}, 120_000);

test("a worker that was taken over gets no forged message signed", async () => {
	let turn = 1;
	const dice = (below: number) => {
		turn = (turn * 48_271) % 2_147_483_647;
		return turn % below;
	};
	const signed: string[] = [];
	const reasons = new Map<string, number>();
	const tried = new Map<string, number>();
	const seen = new Set<string>();
	/** Offers a message to its keys. It can land only if all of them sign it. */
	const offer = async (name: string, keys: readonly string[], message: Uint8Array) => {
		const id = `${keys.join()}/${Buffer.from(message).toString("base64")}`;
		if (seen.has(id)) return;
		seen.add(id);
		tried.set(name, (tried.get(name) ?? 0) + 1);
		for (const key of keys) {
			const { status, reason = "none" } = await ask(strict, key, message);
			if (status === 200) continue;
			reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
			return;
		}
		signed.push(`${name} by ${keys.join(", ")}: ${Buffer.from(message).toString("base64")}`);
	};
	// It knows the deposits.
	for (const { kind, message } of recorded.payloads)
		if (kind === "open") expect(await ask(strict, "fee-payer-0", message)).toMatchObject({ status: 200 });
	for (let round = 0; round < rounds; round++) {
		const thief = await generateKeyPairSigner();
		for (const payload of recorded.payloads) {
			// The keys with money come first: a fee payer's signature alone moves nothing.
			const keys = keysFor(payload.message).toReversed();
			for (const [name, forged] of Object.entries(await forgeriesOf(payload, thief.address)))
				await offer(name, keys, forged);
			for (const [name, mutate] of Object.entries(messageMutations)) {
				const forged = mutateSafely(mutate, payload.message, dice);
				if (forged && isForged(payload, forged)) await offer(name, keys, forged);
			}
			for (const key of ["fee-payer-1", "escrow", "vault"].filter((one) => !keys.includes(one)))
				await offer("a key that the message does not need", [key], payload.message);
		}
	}
	expect(signed).toEqual([]);
	const count = [...tried.values()].reduce((sum, one) => sum + one, 0);
	console.log(`${count} forged messages refused:`, Object.fromEntries(reasons));
	expect(count).toBeGreaterThanOrEqual(least);
}, 240_000);

test("a refund goes to the wallet whose deposit landed, in full and once, and to nobody else", async () => {
	const { chain } = lanes;
	const thief = await generateKeyPairSigner();
	const { escrow, vault } = chain.deployment;
	const refund = recorded.payloads.find(({ kind }) => kind === "refund");
	if (!refund) throw new Error("no refund was recorded");
	const mint = chain.deployment.settlementToken;
	const { deposited } = recorded;
	const pay = async (to: SolanaAddress, amount: bigint, base: SolanaAddress, id = orderId(deposited)) => {
		const transfer = getTransferCheckedInstruction({
			source: await tokenAccountOf({ owner: escrow, token: mint }),
			mint,
			destination: await tokenAccountOf({ owner: to, token: mint }),
			authority: createNoopSigner(escrow),
			amount,
			decimals: 6,
		});
		const feePayer = createNoopSigner(lanes.feePayerOf(0));
		const marker = await markerInstructions({
			feePayer,
			base: createNoopSigner(base),
			orderId: id,
			owner: escrow,
		});
		return compileMessage(refund.message, [transfer, ...marker]);
	};
	const owner = fromSolanaWord(deposited.wallet);
	const amount = deposited.inputAmount;
	expect(await ask(strict, "escrow", await pay(thief.address, amount, vault), deposited)).toMatchObject({
		status: 403,
		reason: "not-the-deposit",
	});
	expect(await ask(strict, "escrow", await pay(owner, amount + 1n, vault), deposited)).toMatchObject({
		reason: "not-the-deposit",
	});
	const unknown = `0x${"ab".repeat(32)}` as const;
	expect(await ask(strict, "escrow", await pay(thief.address, 1n, escrow, unknown))).toMatchObject({
		status: 429,
		reason: "unproven",
	});
	// Nothing else in the message says where the order would be delivered.
	const paid = await pay(owner, amount, vault);
	expect(await ask(strict, "escrow", paid)).toMatchObject({ status: 429, reason: "unproven" });
	expect(await ask(strict, "escrow", paid, recorded.swapped)).toMatchObject({ reason: "not-the-deposit" });
	expect(await ask(strict, "escrow", paid, deposited)).toMatchObject({ status: 200 });
	// The same deposit, guarded by the other marker, would leave twice.
	expect(await ask(strict, "escrow", await pay(owner, amount, escrow), deposited)).toMatchObject({
		reason: "not-the-deposit",
	});
});

test("a payout is signed without a cap for what is not proven only if its order says so, and was paid for", async () => {
	const { swapped } = recorded;
	const { deployment } = lanes.chain;
	const marker = await markerAddress({ base: deployment.vault, orderId: orderId(swapped) });
	const paid = recorded.payloads.find(
		({ kind, message }) => kind === "fill" && accountsOf(message).includes(marker),
	)?.message;
	if (!paid) throw new Error("no payout within Solana was recorded");
	const thief = await generateKeyPairSigner();
	const theirs = await tokenAccountOf({ owner: thief.address, token: deployment.settlementToken });
	const honest = await tokenAccountOf({
		owner: fromSolanaWord(swapped.recipient),
		token: deployment.settlementToken,
	});
	const replaced = (from: SolanaAddress, to: SolanaAddress) =>
		compileMessage(paid, (own) =>
			own.map((one) => ({
				...one,
				accounts: (one.accounts ?? []).map((account) =>
					account.address === from ? { ...account, address: to } : account,
				),
			})),
		);
	expect(await ask(strict, "vault", paid)).toMatchObject({ status: 429, reason: "unproven" });
	expect(await ask(strict, "vault", paid, recorded.deposited)).toMatchObject({ status: 403 });
	const forged = replaced(honest, theirs);
	expect(await ask(strict, "vault", forged, swapped)).toMatchObject({ status: 403 });
	const richer = { ...swapped, inputAmount: swapped.inputAmount * 10n };
	expect(await ask(strict, "vault", paid, richer)).toMatchObject({ reason: "not-the-deposit" });
	expect(await ask(strict, "vault", paid, swapped)).toMatchObject({ status: 200 });
});

function accountsOf(message: Uint8Array): readonly SolanaAddress[] {
	return getCompiledTransactionMessageDecoder().decode(message).staticAccounts;
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
 * Returns whether a mutated message is one that no rule can allow. Another blockhash, a lower fee or another amount of a
 * payout within its cap is what a lane could have made too.
 */
function isForged({ message }: SolanaPayload, forged: Uint8Array): boolean {
	if (Buffer.compare(message, forged) === 0) return false;
	const [before, after] = [message, forged].map(shapeOf);
	if (!after || !before) return true;
	return before !== after;
}

/** Returns the accounts and programs of a message, without amounts, fees, memo and blockhash. */
function shapeOf(message: Uint8Array): string | undefined {
	try {
		const compiled = getCompiledTransactionMessageDecoder().decode(message);
		if (compiled.version !== 0) return undefined;
		const { staticAccounts, header, instructions, version } = compiled;
		const calls = instructions.map(({ programAddressIndex, accountIndices, data }) => [
			programAddressIndex,
			accountIndices,
			data?.length,
			data?.[0],
		]);
		return JSON.stringify([staticAccounts, header, version, calls]);
	} catch {
		return undefined;
	}
}

/** Returns forgeries of a message that would take money or rights. */
async function forgeriesOf(
	{ message }: SolanaPayload,
	thief: SolanaAddress,
): Promise<Record<string, Uint8Array>> {
	const { escrow, vault, settlementToken: mint, feePayers } = lanes.chain.deployment;
	const [feePayer = vault] = feePayers;
	const owners = { vault, escrow, "fee payer": feePayer };
	const theirs = await tokenAccountOf({ owner: thief, token: mint });
	const forged: Record<string, Uint8Array> = {};
	const add = (name: string, extra: Instruction) => {
		forged[`${name}, added`] = compileMessage(message, (own) => [...own, extra]);
		forged[`${name}, alone`] = compileMessage(message, [extra]);
	};
	for (const [name, owner] of Object.entries(owners)) {
		const authority = createNoopSigner(owner);
		const source = await tokenAccountOf({ owner, token: mint });
		add(
			`lamports of the ${name}`,
			getTransferSolInstruction({ source: authority, destination: thief, amount: 1n }),
		);
		add(
			`tokens of the ${name}`,
			getTransferCheckedInstruction({
				source,
				mint,
				destination: theirs,
				authority,
				amount: 1n,
				decimals: 6,
			}),
		);
		add(
			`an approval of the ${name}`,
			getApproveInstruction({ source, delegate: thief, owner: authority, amount: 1n }),
		);
		add(
			`another owner of the ${name}'s account`,
			getSetAuthorityInstruction({
				owned: source,
				owner: authority,
				authorityType: AuthorityType.AccountOwner,
				newAuthority: thief,
			}),
		);
		add(
			`the ${name}'s account closed`,
			getCloseAccountInstruction({ account: source, destination: feePayer, owner: authority }),
		);
	}
	add("a program of the thief's", {
		programAddress: thief,
		accounts: [{ address: vault, role: AccountRole.WRITABLE_SIGNER }],
		data: new Uint8Array([1]),
	});
	forged["another fee payer"] = compileMessage(message, (own) => own, { feePayer: thief });
	forged["no marker"] = compileMessage(message, (own) => own.slice(0, -3));
	forged["a dearer compute unit"] = compileMessage(message, (own) => own, { microLamports: 5_000_001n });
	forged["too many compute units"] = compileMessage(message, (own) => own, { units: 1_400_000 });
	// A message that is honest without its last instruction is no forgery of this kind.
	if (decompiledLength(message) < 6) delete forged["no marker"];
	return forged;
}

function decompiledLength(message: Uint8Array): number {
	return decompileTransactionMessage(getCompiledTransactionMessageDecoder().decode(message)).instructions
		.length;
}
