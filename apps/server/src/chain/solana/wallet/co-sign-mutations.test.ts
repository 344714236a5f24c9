import {
	type Order,
	type OrderMessageParts,
	openTransaction,
	SwapError,
	solanaNativeToken,
	toSolanaWord,
} from "@geoswap/protocol";
import {
	bytesEqual,
	getCompiledTransactionMessageDecoder,
	getTransactionEncoder,
	type KeyPairSigner,
	type SignatureBytes,
	signBytes,
} from "@solana/kit";
import fc from "fast-check";
import { bytesToHex, type Hex } from "viem";
import { expect, test } from "vitest";
import { type SolanaOrderScene, solanaOrderScene } from "../../../../test/order/solana-order-scene.ts";
import { type Dice, messageMutations } from "../../../../test/solana/message-mutations.ts";
import { checkSignedTransaction } from "./check-signed-transaction.ts";
import { CoSignError, coSignOrder, maximumMicroLamportsPerUnit, maximumUnitLimit } from "./co-sign-order.ts";

const isFull = process.env.GEOSWAP_FULL === "1";
const runs = isFull ? 100_000 : 1_000;

/** Something to be co-signed: bytes with signatures for the route, parts and a signature for the lane. */
type Offer = {
	order?: Order;
	parts?: OrderMessageParts;
	wire?: Uint8Array;
	signature?: Uint8Array;
};

type Case = {
	scene: SolanaOrderScene;
	order: Order;
	/** The message as it was built, and the wallet's signature over it. */
	message: Uint8Array;
	signature: Uint8Array;
};

/** Offers with the right message but other signatures. */
const signatureMutations: Record<string, (one: Case, dice: Dice) => Promise<Offer>> = {
	"a stranger's signature": async ({ scene, message }) => ({
		signature: await sign(scene.stranger, message),
	}),
	"another fee payer's signature": async ({ scene, message }) => ({
		signature: await sign(scene.feePayers[1], message),
	}),
	"a bit of the signature": async ({ signature }, dice) => {
		const bytes = new Uint8Array(signature);
		const at = dice(64);
		bytes[at] = (bytes[at] ?? 0) ^ (1 << dice(8));
		return { signature: bytes };
	},
	"no signature": async () => ({ signature: new Uint8Array(64) }),
	"the signature's twin": async ({ signature }) => ({ signature: withTwinScalar(signature) }),
	"a signature of another length": async ({ signature }, dice) => {
		const bytes = dice(2) ? signature.slice(0, dice(64)) : new Uint8Array([...signature, dice(256)]);
		return { signature: bytes };
	},
	"the wallet's signature over something else": async ({ scene, message }, dice) => ({
		signature: await sign(scene.wallet, message.slice(0, dice(message.length))),
	}),
	"signatures in each other's place": async ({ message, signature }) => ({
		wire: wireOf([signature, new Uint8Array(64)], message),
		signature: new Uint8Array(64),
	}),
	"one signature too few": async ({ message, signature }) => ({ wire: wireOf([signature], message) }),
	"one signature too many": async ({ message, signature }) => ({
		wire: wireOf([new Uint8Array(64), signature, signature], message),
	}),
	"a wire that is cut off": async ({ message, signature }, dice) => {
		const wire = wireOf([new Uint8Array(64), signature], message);
		return { wire: wire.slice(0, dice(wire.length)) };
	},
	"a wire with more at its end": async ({ message, signature }, dice) => ({
		wire: new Uint8Array([...wireOf([new Uint8Array(64), signature], message), dice(256)]),
	}),
};

/** Offers that the wallet signed correctly, but that no fee payer of the service may sign. */
const termMutations: Record<string, (one: Case, dice: Dice) => { order?: Order; parts?: OrderMessageParts }> =
	{
		"a fee payer who is none": ({ scene }) => ({
			parts: { ...scene.parts, feePayer: scene.stranger.address },
		}),
		"the vault's operator as fee payer": ({ scene }) => ({
			parts: { ...scene.parts, feePayer: scene.operator.address },
		}),
		"another fee payer of ours": ({ scene }) => ({
			parts: { ...scene.parts, feePayer: scene.feePayers[1].address },
		}),
		"too high a unit limit": ({ scene }, dice) => ({
			parts: withCompute(scene, { unitLimit: maximumUnitLimit + 1 + dice(1_000_000) }),
		}),
		"too high a unit price": ({ scene }, dice) => ({
			parts: withCompute(scene, {
				microLamportsPerUnit: maximumMicroLamportsPerUnit + 1n + BigInt(dice(1_000_000)),
			}),
		}),
		"another program": ({ scene, order }) => ({
			order: { ...order, escrow: toSolanaWord(scene.stranger.address) },
		}),
		"another vault": ({ scene, order }) => ({
			order: { ...order, originVault: toSolanaWord(scene.stranger.address) },
		}),
		"another origin": ({ order }, dice) => ({ order: { ...order, originChainId: BigInt(dice(100_000)) } }),
		"one of our keys as wallet": ({ scene, order }, dice) => {
			const ours = [scene.operator, ...scene.feePayers][dice(3)] ?? scene.operator;
			return { order: { ...order, wallet: toSolanaWord(ours.address) } };
		},
		"no input": ({ order }) => ({ order: { ...order, inputAmount: 0n } }),
	};

/** Offers with another order or other parts than the wallet signed. */
const storedMutations: Record<
	string,
	(one: Case, dice: Dice) => { order?: Order; parts?: OrderMessageParts }
> = {
	"a stored amount": ({ order }, dice) => ({
		order: { ...order, inputAmount: order.inputAmount + 1n + BigInt(dice(1_000_000)) },
	}),
	"a stored token": ({ scene, order }) => {
		const other = scene.deployment.assets.find((asset) => toSolanaWord(asset.address) !== order.inputToken);
		return { order: { ...order, inputToken: toSolanaWord(other?.address ?? solanaNativeToken) } };
	},
	"a stored term": ({ order }, dice) => ({
		order: { ...order, minOutput: order.minOutput + 1n + BigInt(dice(99)) },
	}),
	"a stored wallet": ({ scene, order }) => ({
		order: { ...order, wallet: toSolanaWord(scene.stranger.address) },
	}),
	"a stored blockhash": ({ scene }) => ({ parts: { ...scene.parts, blockhash: scene.stranger.address } }),
	"a stored unit limit": ({ scene }, dice) => ({
		parts: withCompute(scene, { unitLimit: 50_000 + dice(9_999) }),
	}),
	"a stored unit price": ({ scene }, dice) => ({
		parts: withCompute(scene, { microLamportsPerUnit: 2_000n + BigInt(dice(9_999)) }),
	}),
};

const kinds = [
	...Object.keys(messageMutations),
	...Object.keys(signatureMutations),
	...Object.keys(termMutations),
	...Object.keys(storedMutations),
];

test("a message is co-signed in the form in which it was built, for a token and for lamports", async () => {
	const scene = await solanaOrderScene();
	for (const one of await cases(scene)) {
		const wire = wireOf([new Uint8Array(64), one.signature], one.message);
		expect(await check(one, { wire })).toBe(bytesToHex(one.signature));
		const { raw, signature } = await coSign(one, {});
		const own = await sign(scene.feePayers[0], one.message);
		expect(signature).toBe(bytesToHex(own));
		expect(raw).toBe(bytesToHex(wireOf([own, one.signature], one.message)));
	}
});

test(`none of ${runs.toLocaleString("en")} mutated messages is co-signed`, {
	timeout: isFull ? 3_600_000 : 300_000,
}, async () => {
	const scene = await solanaOrderScene();
	const both = await cases(scene);
	const offered = new Map(kinds.map((kind) => [kind, 0]));
	let signed = 0;
	await fc.assert(
		fc.asyncProperty(
			fc.constantFrom(...kinds),
			fc.constantFrom(...both),
			fc.infiniteStream(fc.nat()),
			async (kind, one, numbers) => {
				const dice: Dice = (below) => numbers.next().value % Math.max(below, 1);
				const offer = await offerOf(kind, one, dice);
				fc.pre(offer !== undefined);
				if (!offer) return;
				offered.set(kind, (offered.get(kind) ?? 0) + 1);
				const outcomes = await Promise.allSettled([
					...(offer.wire ? [check(one, offer)] : []),
					...(offer.signature ? [coSign(one, offer)] : []),
				]);
				signed += outcomes.filter(({ status }) => status === "fulfilled").length;
				for (const outcome of outcomes) {
					expect(outcome.status).toBe("rejected");
					if (outcome.status === "rejected")
						expect(isRefusal(outcome.reason), String(outcome.reason)).toBe(true);
				}
			},
		),
		{ numRuns: runs },
	);
	expect(signed).toBe(0);
	expect([...offered.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(runs);
	expect([...offered].filter(([, count]) => count === 0)).toEqual([]);
});

/** Undefined if the mutation changed nothing. */
async function offerOf(kind: string, one: Case, dice: Dice): Promise<Offer | undefined> {
	const { scene, message } = one;
	const ofMessage = messageMutations[kind];
	if (ofMessage) {
		const mutated = ofMessage(message, dice);
		if (bytesEqual(mutated, message)) return undefined;
		const signature = await sign(scene.wallet, mutated);
		return { wire: wireOfAny(mutated, signature), signature };
	}
	const ofSignature = signatureMutations[kind];
	if (ofSignature) {
		const offer = await ofSignature(one, dice);
		const { signature } = offer;
		if (signature && !offer.wire) offer.wire = wireOf([new Uint8Array(64), signature], message);
		return offer;
	}
	const ofTerms = termMutations[kind];
	if (ofTerms) {
		const changed = ofTerms(one, dice);
		const { order, parts } = { order: one.order, parts: scene.parts, ...changed };
		const signer = [scene.wallet, scene.operator, ...scene.feePayers].find(
			({ address }) => toSolanaWord(address) === order.wallet,
		);
		const rebuilt = await openTransaction(scene.deployment, order, parts);
		return { ...changed, signature: await sign(signer ?? scene.wallet, rebuilt.message) };
	}
	const offer = storedMutations[kind]?.(one, dice);
	return { ...offer, signature: one.signature, wire: wireOf([new Uint8Array(64), one.signature], message) };
}

function check({ scene, order }: Case, offer: Offer): Promise<Hex> {
	return checkSignedTransaction({
		deployment: scene.deployment,
		order: offer.order ?? order,
		parts: offer.parts ?? scene.parts,
		signedTransaction: Buffer.from(offer.wire ?? []).toString("base64"),
	});
}

function coSign({ scene, order, signature }: Case, offer: Offer) {
	return coSignOrder({
		deployment: scene.deployment,
		order: offer.order ?? order,
		op: { ...(offer.parts ?? scene.parts), signature: bytesToHex(offer.signature ?? signature) },
		feePayerKey: scene.feePayers[0],
	});
}

/** Any other error would refuse the offer only by accident. */
function isRefusal(reason: unknown): boolean {
	if (reason instanceof CoSignError) return true;
	const codes = ["INVALID_REQUEST", "TRANSACTION_CHANGED", "INVALID_SIGNATURE"];
	return reason instanceof SwapError && codes.includes(reason.code);
}

async function cases(scene: SolanaOrderScene): Promise<Case[]> {
	const native = { ...scene.order, inputToken: toSolanaWord(solanaNativeToken), inputAmount: 2_000_000_000n };
	return Promise.all(
		[scene.order, native].map(async (order) => {
			const { message } = await openTransaction(scene.deployment, order, scene.parts);
			return { scene, order, message, signature: await sign(scene.wallet, message) };
		}),
	);
}

function wireOf(signatures: Uint8Array[], message: Uint8Array): Uint8Array {
	return new Uint8Array([
		signatures.length,
		...signatures.flatMap((signature) => [...signature]),
		...message,
	]);
}

/** Returns a transaction with as many signatures as the message itself requires: the wallet's in each place. */
function wireOfAny(message: Uint8Array, signature: Uint8Array): Uint8Array {
	try {
		const { header, staticAccounts } = getCompiledTransactionMessageDecoder().decode(message);
		const signers = staticAccounts.slice(0, header.numSignerAccounts);
		const signatures = Object.fromEntries(signers.map((signer) => [signer, signature as SignatureBytes]));
		return new Uint8Array(getTransactionEncoder().encode({ messageBytes: message as never, signatures }));
	} catch {
		return wireOf([new Uint8Array(64), signature], message);
	}
}

async function sign(signer: KeyPairSigner, message: Uint8Array): Promise<Uint8Array> {
	return new Uint8Array(await signBytes(signer.keyPair.privateKey, message));
}

function withCompute(
	{ parts }: SolanaOrderScene,
	changes: Partial<OrderMessageParts["compute"]>,
): OrderMessageParts {
	return { ...parts, compute: { ...parts.compute, ...changes } };
}

/** Adds the group's order to the scalar. A check that ignores the form of a signature accepts it as the same one. */
function withTwinScalar(signature: Uint8Array): Uint8Array {
	const groupOrder = 2n ** 252n + 27742317777372353535851937790883648493n;
	const scalar =
		[...signature.slice(32)].reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n) + groupOrder;
	const bytes = Array.from({ length: 32 }, (_, i) => Number((scalar >> BigInt(8 * i)) & 255n));
	return new Uint8Array([...signature.slice(0, 32), ...bytes]);
}
