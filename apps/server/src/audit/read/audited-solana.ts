import {
	accountRentLamports,
	fromSolanaWord,
	programAccountSizes,
	type SolanaAddress,
	type SolanaDeployment,
	solanaNativeToken,
	tokenAccountOf,
} from "@geoswap/protocol";
import {
	createDefaultRpcTransport,
	createSolanaRpcFromTransport,
	isSome,
	type Rpc,
	type RpcTransport,
	type SolanaRpcApi,
} from "@solana/kit";
import { SYSTEM_PROGRAM_ADDRESS } from "@solana-program/system";
import { getTokenDecoder, TOKEN_PROGRAM_ADDRESS } from "@solana-program/token";
import type { Hex } from "viem";
import type { AuditedPolicy } from "./audited-chain.ts";
import type { Finding } from "./report.ts";

export type AuditedSolana = {
	chainId: number;
	deployment: SolanaDeployment;
	policy: AuditedPolicy;
	feePayers: SolanaAddress[];
	rpc: Rpc<SolanaRpcApi>;
	/** The accounts in which the vault holds each asset. */
	accounts: { token: SolanaAddress; address: SolanaAddress }[];
};

export async function connectAuditedSolana({
	rpcUrl,
	otherUrls = [],
	transport = inTurn([rpcUrl, ...otherUrls].map((url) => withTimeout(createDefaultRpcTransport({ url })))),
	deployment,
	depths,
	unreleasedCapUsd,
	unfinalCapUsd,
	earlierFeePayers = [],
}: {
	rpcUrl: string;
	/** Other nodes, which are called if the first does not respond. */
	otherUrls?: readonly string[];
	/** Transport to the node, if it is not reached by its URL. */
	transport?: RpcTransport;
	deployment: SolanaDeployment;
	depths?: AuditedPolicy["depths"];
	unreleasedCapUsd?: number;
	unfinalCapUsd?: number;
	/** Transactions that these keys signed are the service's, even if the deployment no longer names the keys. */
	earlierFeePayers?: readonly SolanaAddress[];
}): Promise<AuditedSolana> {
	const { chainId, assets } = deployment;
	const feePayers = [...new Set([...deployment.feePayers, ...earlierFeePayers])];
	const owner = deployment.program.vault;
	const accounts = assets.map(async ({ address: token }) => ({
		token,
		address: await holdingAddress({ owner, token }),
	}));
	return {
		chainId,
		deployment,
		policy: { depths, unreleasedCapUsd, unfinalCapUsd },
		feePayers,
		rpc: createSolanaRpcFromTransport(transport) as Rpc<SolanaRpcApi>,
		accounts: await Promise.all(accounts),
	};
}

/** Timeout of a call, so that a call without a response does not end all audits. */
const timeoutMs = 30_000;

function withTimeout(transport: RpcTransport): RpcTransport {
	return (request) => transport({ ...request, signal: AbortSignal.timeout(timeoutMs) });
}

/** Calls one node after the other until one responds. */
function inTurn(transports: readonly RpcTransport[]): RpcTransport {
	return async <TResponse>(request: Parameters<RpcTransport>[0]) => {
		let failure: unknown;
		for (const transport of transports) {
			try {
				return await transport<TResponse>(request);
			} catch (error) {
				failure = error;
			}
		}
		throw failure;
	};
}

/** Returns the address at which an owner holds a token: its token account, or its own address for the native token. */
async function holdingAddress({
	owner,
	token,
}: {
	owner: SolanaAddress;
	token: SolanaAddress;
}): Promise<SolanaAddress> {
	return token === solanaNativeToken ? owner : tokenAccountOf({ owner, token });
}

/** Does the same for the 32-byte words of an order. */
export async function holdingOf(
	owner: Hex,
	token: Hex,
): Promise<{ address: SolanaAddress; token: SolanaAddress }> {
	const address = await holdingAddress({ owner: fromSolanaWord(owner), token: fromSolanaWord(token) });
	return { address, token: fromSolanaWord(token) };
}

/**
 * Returns the balance of each of the vault's accounts at one final slot, `minSlot` or later. Reports a breach if a
 * third party can withdraw from an account, because its balance does not show that.
 */
export async function finalHoldings(
	{ rpc, deployment, accounts }: AuditedSolana,
	{ minSlot }: { minSlot: number },
): Promise<{ slot: number; holdings: Map<SolanaAddress, bigint>; breaches: Finding[] }> {
	const { context, value } = await rpc
		.getMultipleAccounts(
			accounts.map(({ address }) => address),
			{ commitment: "finalized", encoding: "base64", minContextSlot: BigInt(minSlot) },
		)
		.send();
	const breaches: Finding[] = [];
	const { program } = deployment;
	const holdings = accounts.map(({ token, address }, i): [SolanaAddress, bigint] => {
		const breach = (message: string) =>
			breaches.push({ invariant: "I2", message, chainIds: [deployment.chainId], token });
		const account = value[i];
		if (!account) return [address, 0n];
		if (token === solanaNativeToken) {
			if (account.owner !== program.address) {
				breach(`the vault on Solana, ${address}, belongs to the program ${account.owner}`);
			}
			return [address, account.lamports - accountRentLamports(programAccountSizes.vault)];
		}
		// Anyone can send lamports to an account that does not exist yet.
		if (account.owner === SYSTEM_PROGRAM_ADDRESS) return [address, 0n];
		if (account.owner !== TOKEN_PROGRAM_ADDRESS) throw new Error(`${address} is not a token account`);
		const { mint, amount, owner, delegate, closeAuthority } = getTokenDecoder().decode(
			Buffer.from(account.data[0], "base64"),
		);
		if (mint !== token) throw new Error(`${address} is an account of another token`);
		const whose = `the vault's account ${address} on Solana`;
		if (owner !== program.vault) breach(`${whose} belongs to ${owner}`);
		if (isSome(delegate)) breach(`${delegate.value} may take from ${whose}`);
		if (isSome(closeAuthority)) breach(`${closeAuthority.value} may close ${whose}`);
		return [address, amount];
	});
	return { slot: Number(context.slot), holdings: new Map(holdings), breaches };
}
