import { type Address, getBase58Encoder, getBase64Encoder, isAddress } from "@solana/kit";
import { invalidParams, RpcError } from "./rpc-error.ts";
import type { Block, Commitment, SolanaChain } from "./solana-chain.ts";

export type Params = readonly unknown[];
type Method = (params: Params) => unknown;
export type Methods = Record<string, Method>;
export type Config = Record<string, unknown>;

export function configAt(params: Params, index: number): Config {
	const config = params[index];
	if (config === undefined || config === null) return {};
	if (typeof config !== "object") throw invalidParams("Invalid params: expected a configuration object");
	return config as Config;
}

export function commitmentOf(config: Config, key = "commitment"): Commitment {
	const commitment = config[key] ?? "finalized";
	if (commitment !== "processed" && commitment !== "confirmed" && commitment !== "finalized") {
		throw invalidParams(`Invalid params: unknown commitment ${String(commitment)}`);
	}
	return commitment;
}

/** Returns the newest block at the caller's commitment. Throws if it is before `minContextSlot`. */
export function headFor(chain: SolanaChain, config: Config): Block {
	const head = chain.head(commitmentOf(config));
	if (typeof config.minContextSlot === "number" && config.minContextSlot > head.slot) {
		throw new RpcError(-32016, "Minimum context slot has not been reached", { contextSlot: head.slot });
	}
	return head;
}

export function inContext<T>(head: Block, value: T) {
	return { context: { apiVersion: solanaVersion, slot: head.slot }, value };
}

export const solanaVersion = "3.0.0";

export function addressAt(params: Params, index: number): Address {
	return asAddress(params[index]);
}

export function asAddress(value: unknown): Address {
	if (typeof value !== "string" || !isAddress(value)) throw invalidParams("Invalid param: Invalid");
	return value;
}

export function signatureOf(value: unknown): string {
	try {
		if (typeof value === "string" && getBase58Encoder().encode(value).length === 64) return value;
	} catch {}
	throw invalidParams("Invalid param: Invalid");
}

export function bytesOf(value: unknown, encoding: unknown): Uint8Array {
	if (typeof value !== "string") throw invalidParams("Invalid params: expected a string");
	if (encoding !== "base58" && encoding !== "base64") {
		throw invalidParams(`unsupported encoding: ${String(encoding)}. Supported encodings: base58, base64`);
	}
	const encoder = encoding === "base64" ? getBase64Encoder() : getBase58Encoder();
	try {
		return new Uint8Array(encoder.encode(value));
	} catch (error) {
		throw invalidParams(`invalid ${encoding} encoding: ${(error as Error).message}`);
	}
}
