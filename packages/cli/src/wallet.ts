import { type MandateJson, parseAddress } from "@geoswap/protocol";
import type { OriginSigner } from "@geoswap/sdk";
import { CliError } from "./cli-error.ts";
import type { Context } from "./context.ts";
import type { PinnedChain } from "./pinned-assets.ts";
import { findEvmAccount, findSolanaKey, readEvmAccount, readSolanaKey } from "./read-keys.ts";

type Keys = Context["keys"];

/** Returns the wallet that signs on a chain of this kind. */
export async function readSigner(
	keys: Keys,
	kind: PinnedChain["kind"],
	{
		isTypedOnly = false,
		mandate,
	}: { isTypedOnly?: boolean | undefined; mandate?: MandateJson | undefined } = {},
): Promise<OriginSigner> {
	if (kind === "evm") {
		const { evmSigner } = await import("@geoswap/sdk");
		const account = await readEvmAccount(keys);
		if (mandate) expectAgent(mandate, account.address);
		return evmSigner(account, { ...(isTypedOnly && { delegate: "typed-only" }), mandate });
	}
	const { solanaSigner } = await import("@geoswap/sdk/solana");
	return solanaSigner(await readSolanaKey(keys));
}

function expectAgent({ agent }: MandateJson, address: string): void {
	if (agent.toLowerCase() === address.toLowerCase()) return;
	throw new CliError(`The mandate is for the agent ${agent}, but your key is that of ${address}.`, {
		code: "INVALID_KEY",
		next: "check_key",
		section: "mandates",
	});
}

/** Returns the address that was given, else that of the key. */
export async function readWallet(
	keys: Keys,
	chain: PinnedChain,
	option: string | undefined,
): Promise<string> {
	if (option !== undefined) return checkAddress("--wallet", chain, option);
	return (await readSigner(keys, chain.kind)).address;
}

/** Returns the address of the key for this kind of chain, if there is one. */
export async function findOwnAddress(keys: Keys, kind: PinnedChain["kind"]): Promise<string | undefined> {
	const has = kind === "evm" ? await findEvmAccount(keys) : await findSolanaKey(keys);
	return has && (await readSigner(keys, kind)).address;
}

/** Returns the address as written. Throws unless it has the chain's form and its checksum is right. */
export function checkAddress(option: string, { chainId, name }: PinnedChain, text: string): string {
	if (parseAddress(chainId, text) !== undefined) return text;
	throw new CliError(
		`${option}: ${text} is not an address on ${name}. Write it in the chain's format; in hex, upper and lower case are a checksum.`,
		{ code: "INVALID_ADDRESS", section: "chains-and-tokens" },
	);
}
