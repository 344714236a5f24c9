import { digestOfPayload } from "@geoswap/keys/digest-of-payload";
import type { Payload, WireSignature } from "@geoswap/keys/payload";
import { trySigner } from "@geoswap/keys/try-signer";
import { type Hex, keccak256 } from "viem";
import { judgePayload } from "./judge-payload.ts";
import { type Closing, expectOneEnd } from "./policy/expect-one-end.ts";
import type { Charge, Judgement } from "./policy/judgement.ts";
import { signatureMeter, unprovenMeter } from "./policy/meters.ts";
import { Refusal, refuse } from "./policy/refusal.ts";
import type { ReadClosing } from "./proof/create-closings.ts";
import type { Proofs } from "./proof/create-proofs.ts";
import type { RemoteSignerMetrics } from "./remote-signer-metrics.ts";
import type { SigningKey } from "./signing-key.ts";
import type { PayloadId, SignerState } from "./state/open-signer-state.ts";
import type { Log } from "./telemetry/log.ts";

/** How far a nonce may be above all signed ones. A lane has at most a few transactions in flight. */
const nonceWindow = 64;

export type Signing = {
	/** Signs a payload, or throws a `Refusal`. The same payload gets the same signature, and counts once. */
	sign: (request: { client: string; key: string; payload: Payload }) => Promise<WireSignature>;
	/** Signs a trial that decides nothing, and does not return the signature. Throws if the key does not sign. */
	check: (request: { client: string; key: string }) => Promise<void>;
	/** Returns the keys that a client may use. */
	keysOf: (client: string) => { name: string; kind: "evm" | "solana"; address: string }[];
};

/** Creates the part that decides, counts and signs. Each decision is one line of the audit log. */
export function createSigning({
	keys,
	state,
	prove,
	readClosing,
	nowMs,
	metrics,
	log,
}: {
	keys: readonly SigningKey[];
	state: SignerState;
	prove: Proofs;
	readClosing: ReadClosing;
	nowMs: () => number;
	metrics: RemoteSignerMetrics | undefined;
	log: Log;
}): Signing {
	/** Payloads that are being signed. A client that repeats its request meanwhile waits for the same signature. */
	const underWay = new Map<string, Promise<WireSignature>>();

	return {
		sign: async ({ client, key: name, payload }) => {
			const key = keyFor(client, name);
			const id: PayloadId = { key: name, digest: digestOf(payload) };
			const flight = `${name}/${id.digest}`;
			const running = underWay.get(flight) ?? signOnce(key, { client, id, payload });
			underWay.set(flight, running);
			try {
				return await running;
			} finally {
				underWay.delete(flight);
			}
		},
		check: async ({ client, key: name }) => {
			const key = keyFor(client, name);
			const about = { client, key: name };
			try {
				// A trial counts like any signature, because it takes as much of the device's time.
				const digest = `check/${nowMs()}`;
				const charges = [{ meter: signatureMeter(name), item: digest, amount: 1n }];
				state.reserve({ id: { key: name, digest }, charges });
				await trySigner(key.signer);
				log.info(about, "checked");
			} catch (error) {
				throw told(error, key, about);
			}
		},
		keysOf: (client) =>
			keys
				.filter(({ clients }) => clients.includes(client))
				.map(({ name, signer: { kind, address } }) => ({ name, kind, address })),
	};

	async function signOnce(
		key: SigningKey,
		{ client, id, payload }: { client: string; id: PayloadId; payload: Payload },
	): Promise<WireSignature> {
		const about = { client, key: key.name, digest: id.digest };
		const counted = state.recall(id);
		if (counted?.signature !== undefined) {
			log.info(about, "signed before");
			return JSON.parse(counted.signature) as WireSignature;
		}
		try {
			const judgement = await judgePayload(key, payload);
			if (!counted) await count(key, { id, judgement });
			const signature = await signWith(key, payload);
			state.remember(id, JSON.stringify(signature));
			metrics?.signed(key.name, judgement.kind);
			log.info({ ...about, kind: judgement.kind, ...plain(judgement.about) }, "signed");
			return signature;
		} catch (error) {
			throw told(error, key, about);
		}
	}

	/** Returns the key, if the client may use it. */
	function keyFor(client: string, name: string): SigningKey {
		const key = keys.find((one) => one.name === name && one.clients.includes(client));
		if (key) return key;
		metrics?.refused("", "not-allowed");
		log.warn({ client, key: name, reason: "not-allowed" }, "refused");
		return refuse("not-allowed", `${client} may not use a key ${name}`);
	}

	/** Counts and logs why nothing was signed. */
	function told(error: unknown, key: SigningKey, about: Record<string, unknown>): unknown {
		if (error instanceof Refusal) {
			metrics?.refused(key.name, error.reason);
			log.warn({ ...about, reason: error.reason, problem: error.message }, "refused");
		} else {
			metrics?.failed(key.name);
			log.error({ ...about, err: error }, "the key does not sign");
		}
		return error;
	}

	async function count(
		key: SigningKey,
		{ id, judgement }: { id: PayloadId; judgement: Judgement },
	): Promise<void> {
		const charges: Charge[] = [
			{ meter: signatureMeter(key.name), item: id.digest, amount: 1n },
			...judgement.charges,
		];
		for (const payout of judgement.payouts) {
			const { meter, item, amount } = payout;
			const proof = await prove(payout);
			charges.push({ meter, item, amount });
			if (!proof.isProven) charges.push({ meter: unprovenMeter(meter), item, amount, why: proof.why });
		}
		const closings = await readClosings(judgement);
		// There is no await from here on, so that no other payload is counted in between.
		expectNonce(key, judgement);
		const { nonce, decisions = [] } = judgement;
		for (const decision of decisions) {
			const { orderId } = decision;
			expectOneEnd(decision, state.decisionsOf(orderId), closings.get(orderId));
		}
		state.reserve({ id, charges, nonce, decisions });
	}

	function expectNonce(key: SigningKey, { nonce }: Judgement): void {
		if ((key.use !== "relayer" && key.use !== "treasurer") || nonce === undefined) return;
		const next = Math.max(key.firstNonce, (state.highestNonce(key.name) ?? -1) + 1);
		if (nonce >= next + nonceWindow)
			refuse(
				"nonce-ahead",
				`the nonce ${nonce} is far above ${next}; if it is right, set the key's firstNonce`,
			);
	}

	/** Reads whether orders whose input the payload returns can still be delivered, if a delivery is signed. */
	async function readClosings({ decisions = [] }: Judgement): Promise<ReadonlyMap<Hex, Closing>> {
		const places = decisions
			.filter(({ end }) => end === "return")
			.flatMap(({ orderId }) => state.decisionsOf(orderId))
			.flatMap((before) => (before.end === "delivery" ? [before.place] : []));
		return new Map(
			await Promise.all(places.map(async (place) => [place.orderId, await readClosing(place)] as const)),
		);
	}
}

async function signWith(key: SigningKey, payload: Payload): Promise<WireSignature> {
	if (key.use === "solana") {
		if (payload.kind !== "message") return refuse("wrong-kind", "the key is for Solana");
		const signature = await key.signer.sign(Buffer.from(payload.message, "base64"));
		return Buffer.from(signature).toString("base64");
	}
	if (payload.kind === "message") return refuse("wrong-kind", "the key is not for Solana");
	return key.signer.sign(payload);
}

/** Returns the hash that identifies a payload. */
function digestOf(payload: Payload): Hex {
	if (payload.kind === "message") return keccak256(Buffer.from(payload.message, "base64"));
	return digestOfPayload(payload);
}

/** Returns the fields in a form that JSON can hold. */
function plain(about: Record<string, unknown>): Record<string, unknown> {
	return JSON.parse(JSON.stringify(about, (_, value) => (typeof value === "bigint" ? String(value) : value)));
}
