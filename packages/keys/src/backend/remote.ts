import { orderToJson } from "@geoswap/protocol";
import { getAddressEncoder, isAddress as isSolanaAddress } from "@solana/kit";
import { type Address, isAddress } from "viem";
import * as z from "zod";
import { digestOfPayload } from "../digest-of-payload.ts";
import { hexOfSignature } from "../hex-of-signature.ts";
import {
	keyAboveCap,
	keysAnswerSchema,
	type Payload,
	problemSchema,
	signatureSchema,
	type WireSignature,
} from "../payload.ts";
import { recoverAddress } from "../signature/recover-address.ts";
import type { EvmSigner, SignOptions, SolanaSigner } from "../signer.ts";
import { type KeyName, SignerError } from "../signer-error.ts";
import { solanaSignerOf } from "../solana-signer-of.ts";
import type { Backend } from "./backend.ts";
import type { RemoteClient } from "./remote-client.ts";

const answerSchema = z.object({ signature: signatureSchema });

/** Opens the keys that the remote signer holds for this process. */
export function openRemote(client: RemoteClient): Backend {
	return {
		openEvm: ({ name }) => openEvmKey(client, name),
		openSolana: ({ name }) => openSolanaKey(client, name),
		close: async () => client.close(),
	};
}

/** Requests the key's address from the signer. */
async function openEvmKey(client: RemoteClient, name: KeyName): Promise<EvmSigner> {
	const address = await addressOf(client, name, "evm");
	if (!isAddress(address)) throw failed(name, "the remote signer names an address of another kind");
	return {
		kind: "evm",
		name,
		address,
		check: (options) => askToCheck(client, name, options),
		async sign(payload, options = {}) {
			const signature = await askToSign(client, name, payload, options);
			if (typeof signature === "string" || !isBy(address, payload, signature))
				throw failed(name, `what it returned is not a signature of ${address}`);
			return signature;
		},
	};
}

async function openSolanaKey(client: RemoteClient, name: KeyName): Promise<SolanaSigner> {
	const address = await addressOf(client, name, "solana");
	if (!isSolanaAddress(address)) throw failed(name, "the remote signer names an address of another kind");
	const signer = solanaSignerOf({
		name,
		publicKey: new Uint8Array(getAddressEncoder().encode(address)),
		signMessage: async (message, options) => {
			const text = Buffer.from(message).toString("base64");
			const order = options.order && { order: orderToJson(options.order) };
			const payload = { kind: "message", message: text, ...order };
			const signature = await askToSign(client, name, payload, options);
			if (typeof signature !== "string") throw failed(name, "it returned a signature of another kind");
			return new Uint8Array(Buffer.from(signature, "base64"));
		},
	});
	return { ...signer, check: (options) => askToCheck(client, name, options) };
}

function isBy(
	address: Address,
	payload: Exclude<Payload, { kind: "message" }>,
	signature: Exclude<WireSignature, string>,
): boolean {
	return recoverAddress({ hash: digestOfPayload(payload), signature: hexOfSignature(signature) }) === address;
}

async function addressOf(client: RemoteClient, name: KeyName, kind: "evm" | "solana"): Promise<string> {
	const { status, body } = await asking(name, () => client.get("/keys"));
	if (status !== 200) throw refusedBy(name, { status, body });
	const keys = keysAnswerSchema.safeParse(body);
	if (!keys.success) throw failed(name, "its list of keys has another form");
	const key = keys.data.find((one) => one.name === keyOf(name));
	if (!key) throw failed(name, "the remote signer has no such key for this process's certificate");
	if (key.kind !== kind) throw failed(name, `the remote signer's key is for ${key.kind}`);
	return key.address;
}

async function askToSign(
	client: RemoteClient,
	name: KeyName,
	payload: object,
	options: SignOptions,
): Promise<WireSignature> {
	const { status, body } = await asking(name, () => client.post(`/sign/${keyOf(name)}`, payload, options));
	if (status !== 200) throw refusedBy(name, { status, body });
	const answer = answerSchema.safeParse(body);
	if (!answer.success) throw failed(name, "its answer has another form");
	return answer.data.signature;
}

/** Requests a trial of the key from the signer. Throws if the key does not sign. */
async function askToCheck(client: RemoteClient, name: KeyName, options: SignOptions = {}): Promise<void> {
	const { status, body } = await asking(name, () => client.post(`/check/${keyOf(name)}`, {}, options));
	if (status !== 200) throw refusedBy(name, { status, body });
}

/** Turns a failed connection into an error that names the key. The same call can be made again. */
async function asking<Result>(name: KeyName, ask: () => Promise<Result>): Promise<Result> {
	try {
		return await ask();
	} catch (cause) {
		const { code, message } = cause as { code?: string; message?: string };
		const isLate = (cause as Error).name === "TimeoutError" || (cause as Error).name === "AbortError";
		throw new SignerError(
			name,
			isLate
				? "the remote signer did not answer in time"
				: `the remote signer cannot be reached: ${code ?? message}`,
			{ cause, isRetryable: true },
		);
	}
}

/**
 * Returns the error for a refusal. Only a payload that breaks a rule is refused permanently. A reached cap or a missing
 * right is not the payload's fault. If the cap is not the key's own, the key can sign other payloads meanwhile.
 */
function refusedBy(name: KeyName, { status, body }: { status: number; body: unknown }): SignerError {
	const said = problemSchema.safeParse(body);
	const problem = said.success ? `${said.data.reason}: ${said.data.message}` : `it answered ${status}`;
	const isRefused = [400, 403, 413].includes(status);
	const isDeferred = status === 429 && said.success && said.data.reason !== keyAboveCap;
	return new SignerError(name, isRefused ? `the remote signer refused (${problem})` : problem, {
		isRetryable: !isRefused,
		isDeferred,
	});
}

function failed(name: KeyName, problem: string): SignerError {
	return new SignerError(name, problem, { isRetryable: true });
}

function keyOf({ reference }: KeyName): string {
	return reference.slice("remote:".length);
}
