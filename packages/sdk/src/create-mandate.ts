import {
	type Deployment,
	type Mandate,
	type MandateJson,
	mandateToJson,
	mandateTypedData,
	maxMandateEntries,
	parseAddress,
	type TypedDataJson,
	typedDataToJson,
	wordOfAddress,
} from "@geoswap/protocol";
import { type Address, getAddress, type Hex, hashTypedData } from "viem";
import type { EvmAccount } from "./evm-account.ts";
import { pinnedChain } from "./pinned-chain.ts";
import { signDigest, type Way } from "./sign-digest.ts";

/** The limits within which an agent's key may swap from the owner's wallet. The key can do nothing else with it. */
export type MandateLimits = {
	/** The origin chain. A mandate is valid on one chain. */
	chainId: number;
	/** The address of the agent's key. */
	agent: Address;
	/** The tokens that may be spent. Up to `maxAmount` of each may be spent immediately, and again in each period. */
	inputs: readonly { token: string; maxAmount: bigint }[];
	periodSeconds: number;
	/** The time from which the mandate is no longer valid. */
	expiresAt: Date;
	/** The tokens that may be bought. By default, any that the service offers. */
	outputs?: readonly { chainId: number; token: string }[];
	/**
	 * The addresses that may get the output beside the wallet itself. An address is allowed on every chain of the allowed
	 * outputs, even where its key belongs to someone else or does not exist, so set `outputs` too.
	 */
	recipients?: readonly { chainId: number; address: string }[];
	/**
	 * The wallet's epoch on this chain, which counts how often its mandates were revoked there. A mandate with a lower
	 * epoch is invalid. One with a higher epoch becomes valid with a later revocation, so read the epoch from a node that
	 * you trust.
	 */
	epoch?: number;
};

/**
 * Signs a mandate. The agent's key may then swap from the wallet within these limits, through the pinned contracts
 * only. It needs no transaction. Give the result to the agent, which passes it to `swap` as `mandate`.
 */
export async function createMandate({
	account,
	pins,
	signal,
	...limits
}: MandateLimits & {
	/** The wallet's own account. It signs typed data. */
	account: Pick<EvmAccount, "address" | "signTypedData" | "sign">;
	/** The deployment, from a file that you trust and not from the service. */
	pins: Deployment;
	signal?: AbortSignal;
}): Promise<MandateJson> {
	const { chainId } = limits;
	const { contracts, attesterSet } = pinnedChain(pins, { field: "chainId", chainId });
	const mandate: Mandate = {
		wallet: getAddress(account.address),
		originVault: contracts.vault,
		attesterSet: attesterSet.hash,
		...readLimits(limits),
	};
	// The account would treat the agent's key as the owner's, and check no limit.
	if (mandate.agent === mandate.wallet)
		throw new RangeError("agent is the wallet itself, which has no limits");
	const unsigned = { chainId, escrow: contracts.escrow, mandate };
	const signature = await signTyped(account, mandateTypedData(unsigned), { signal });
	return mandateToJson({ ...unsigned, signature });
}

/** Signs EIP-712 data. A key that signs only hashes signs its digest. */
export async function signTyped(
	account: Pick<EvmAccount, "address" | "signTypedData" | "sign">,
	typedData: TypedDataJson,
	{ signal }: { signal?: AbortSignal | undefined },
): Promise<Hex> {
	const hash = hashTypedData(typedData);
	const document = typedDataToJson(typedData);
	const ways: Way[] = [];
	if (account.signTypedData) {
		ways.push({ digest: hash, sign: async () => account.signTypedData?.(document) });
	}
	if (account.sign) ways.push({ digest: hash, sign: async () => account.sign?.({ hash }) });
	return signDigest(account.address, ways, { signal });
}

function readLimits({
	chainId,
	agent,
	inputs,
	periodSeconds,
	expiresAt,
	outputs = [],
	recipients = [],
	epoch = 0,
}: MandateLimits): Pick<
	Mandate,
	"agent" | "epoch" | "expiry" | "period" | "inputs" | "outputs" | "recipients"
> {
	const lists = { inputs, outputs, recipients };
	for (const [name, { length }] of Object.entries(lists)) {
		if (length > maxMandateEntries)
			throw new RangeError(`${name} has more than ${maxMandateEntries} entries`);
	}
	if (expiresAt.getTime() <= Date.now()) throw new RangeError("expiresAt is not in the future");
	if (new Set(inputs.map(({ token }) => token.toLowerCase())).size < inputs.length) {
		throw new RangeError("inputs names a token twice, of which only the first cap would count");
	}
	if (inputs.length === 0)
		throw new RangeError("inputs is empty; name at least one token that the agent may spend");
	if (!Number.isInteger(periodSeconds) || periodSeconds < 1 || periodSeconds >= 2 ** 32) {
		throw new RangeError("periodSeconds must be a whole number of seconds, from 1 to 2^32 - 1");
	}
	return {
		agent: readAddress("agent", chainId, agent) as Address,
		epoch: BigInt(epoch),
		expiry: BigInt(Math.floor(expiresAt.getTime() / 1_000)),
		period: periodSeconds,
		inputs: inputs.map(({ token, maxAmount }) => {
			if (maxAmount < 1n || maxAmount >= 10n ** 38n)
				throw new RangeError(`maxAmount of ${token}: ${maxAmount}`);
			return { token: readAddress("inputs", chainId, token) as Address, maxAmount };
		}),
		outputs: outputs.map(({ token, ...one }) => ({
			chainId: BigInt(one.chainId),
			token: wordOfAddress(one.chainId, readAddress("outputs", one.chainId, token)),
		})),
		recipients: recipients.map(({ address, ...one }) =>
			wordOfAddress(one.chainId, readAddress("recipients", one.chainId, address)),
		),
	};
}

function readAddress(field: string, chainId: number, text: string): Hex {
	const address = parseAddress(chainId, text);
	if (address === undefined) {
		throw new RangeError(`${field}: ${text} is no address on chain ${chainId}, or its checksum is wrong`);
	}
	return address;
}
