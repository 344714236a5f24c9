import { type ChainDeployment, escrowDomain } from "@geoswap/protocol";
import { type PublishedCode, publishedCodes } from "@geoswap/protocol/published-code";
import {
	type Address,
	domainSeparator,
	type Hex,
	keccak256,
	numberToHex,
	pad,
	size,
	slice,
	stringToHex,
	zeroAddress,
} from "viem";
import type { EvmChain } from "../connect-chain.ts";

/** A contract of the deployment file, and the words that each of its immutables may be. */
type Expected = {
	name: string;
	address: Address;
	codes: readonly [PublishedCode, ...PublishedCode[]];
	immutables: Record<string, readonly Hex[]>;
};

/** Immutables that an earlier vault may have although the deployment file names others by now. */
export type EarlierImmutables = {
	earlierRouters: readonly Address[];
	earlierSettlementTokens: readonly Address[];
};

/**
 * Compares the code and the immutables of each escrow and vault at the newest final block with what is published and
 * with the deployment file. Returns a sentence for each contract that is not what it should be. Throws if the chain
 * does not answer.
 */
export async function findCodeProblems(
	{ chainId, client, deployment }: EvmChain,
	earlier: EarlierImmutables,
): Promise<string[]> {
	const contracts = [...escrowsOf(deployment), ...vaultsOf(deployment, earlier)];
	const problems = await Promise.all(
		contracts.map(async ({ name, address, codes, immutables }) => {
			const code = await client.getCode({ address, blockTag: "finalized" });
			const problem = codeProblem(code, { codes, immutables });
			return problem === undefined ? [] : [`${name} ${address} on chain ${chainId}: ${problem}`];
		}),
	);
	return problems.flat();
}

function escrowsOf({ chainId, contracts }: ChainDeployment): Expected[] {
	return [contracts.escrow, ...contracts.earlierEscrows].map((address, i) => {
		const domain = escrowDomain({ chainId, escrow: address });
		const { name, version } = domain;
		return {
			name: i === 0 ? "escrow" : "earlier escrow",
			address,
			codes: publishedCodes.escrow,
			immutables: {
				_cachedDomainSeparator: [domainSeparator({ domain })],
				_cachedChainId: [numberToHex(chainId, { size: 32 })],
				_cachedThis: [wordOf(address)],
				_hashedName: [keccak256(stringToHex(name))],
				_hashedVersion: [keccak256(stringToHex(version))],
				_name: [shortString(name)],
				_version: [shortString(version)],
			},
		};
	});
}

/**
 * An earlier vault may have an earlier escrow, an earlier router, another stable or an earlier settlement token, and no
 * feed of the sequencer.
 */
function vaultsOf(
	{ contracts, uniswap, settlementToken, wrappedNative, assets, sequencerUptimeFeed }: ChainDeployment,
	{ earlierRouters, earlierSettlementTokens }: EarlierImmutables,
): Expected[] {
	const { escrow, earlierEscrows, vault, earlierVaults } = contracts;
	const feed = sequencerUptimeFeed ?? zeroAddress;
	const stables = assets.filter(({ kind }) => kind === "stable").map(({ address }) => address);
	return [vault, ...earlierVaults].map((address, i) => {
		const isCurrent = i === 0;
		return {
			name: isCurrent ? "vault" : "earlier vault",
			address,
			codes: publishedCodes.vault,
			immutables: {
				ESCROW: (isCurrent ? [escrow] : [escrow, ...earlierEscrows]).map(wordOf),
				ROUTER: (isCurrent ? [uniswap.router] : [uniswap.router, ...earlierRouters]).map(wordOf),
				SETTLEMENT_TOKEN: (isCurrent ? [settlementToken] : [...stables, ...earlierSettlementTokens]).map(
					wordOf,
				),
				WRAPPED_NATIVE: [wordOf(wrappedNative)],
				SEQUENCER_FEED: (isCurrent ? [feed] : [feed, zeroAddress]).map(wordOf),
			},
		};
	});
}

/**
 * Returns how a contract's code differs from every published version of it, or its immutables from what they may be.
 */
function codeProblem(
	code: Hex | undefined,
	{ codes, immutables }: Pick<Expected, "codes" | "immutables">,
): string | undefined {
	if (code === undefined) return "there is no code at this address";
	const published = codes.find((one) => firstDifference(code, one) === undefined);
	if (!published) {
		const [newest] = codes;
		return size(code) === size(newest.runtimeCode)
			? `its code is not the published one, from which it differs at byte ${firstDifference(code, newest)}`
			: `its code is not the published one, because it has ${size(code)} bytes instead of ${size(newest.runtimeCode)}`;
	}
	for (const [name, starts] of Object.entries(published.immutables)) {
		const allowed = immutables[name] ?? [];
		for (const start of starts) {
			const word = slice(code, start, start + 32);
			if (!allowed.includes(word)) {
				return `its immutable ${name} is ${shown(word)}, but by the deployment file it should be ${allowed.map(shown).join(" or ")}`;
			}
		}
	}
	return undefined;
}

/** Returns the first byte outside the immutables that differs, or undefined if there is none. */
function firstDifference(code: Hex, { runtimeCode, immutables }: PublishedCode): number | undefined {
	const starts = Object.values(immutables).flat();
	const isImmutable = (byte: number) => starts.some((start) => byte >= start && byte < start + 32);
	const length = Math.max(size(code), size(runtimeCode));
	for (let byte = 0; byte < length; byte++) {
		const at = 2 + 2 * byte;
		if (code.slice(at, at + 2) !== runtimeCode.slice(at, at + 2) && !isImmutable(byte)) return byte;
	}
	return undefined;
}

function wordOf(address: Address): Hex {
	return pad(address, { size: 32 }).toLowerCase() as Hex;
}

/** Encodes a text in a word as OpenZeppelin's ShortStrings does: its bytes first, its length in the last byte. */
function shortString(text: string): Hex {
	const bytes = pad(stringToHex(text), { dir: "right", size: 31 });
	return `${bytes}${text.length.toString(16).padStart(2, "0")}`;
}

/** Formats a word that holds an address as that address, and any other word whole. */
function shown(word: Hex): string {
	return /^0x0{24}/.test(word) ? `0x${word.slice(26)}` : word;
}
