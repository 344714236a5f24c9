import {
	fromSolanaWord,
	type SolanaAddress,
	type SolanaDeployment,
	solanaNativeToken,
	tokenAccountOf,
} from "@geoswap/protocol";
import { createSolanaRpc, type Rpc, type SolanaRpcApi } from "@solana/kit";
import { getTokenDecoder, TOKEN_PROGRAM_ADDRESS } from "@solana-program/token";
import type { Hex } from "viem";

export type AuditedSolana = {
	chainId: number;
	deployment: SolanaDeployment;
	feePayers: SolanaAddress[];
	rpc: Rpc<SolanaRpcApi>;
	/** Where escrow and vault hold each asset. */
	accounts: { holder: Holder; token: SolanaAddress; address: SolanaAddress }[];
};

export type Holder = "escrow" | "vault";

export async function connectAuditedSolana({
	rpcUrl,
	deployment,
	earlierFeePayers = [],
}: {
	rpcUrl: string;
	deployment: SolanaDeployment;
	/** What these signed was ours, whether the deployment still names them or not. */
	earlierFeePayers?: readonly SolanaAddress[];
}): Promise<AuditedSolana> {
	const { chainId, assets } = deployment;
	const feePayers = [...new Set([...deployment.feePayers, ...earlierFeePayers])];
	const accounts = assets.flatMap(({ address: token }) =>
		(["escrow", "vault"] as const).map(async (holder) => ({
			holder,
			token,
			address: await holdingAddress({ owner: deployment[holder], token }),
		})),
	);
	return {
		chainId,
		deployment,
		feePayers,
		rpc: createSolanaRpc(rpcUrl),
		accounts: await Promise.all(accounts),
	};
}

/** Where an owner holds a token: in its account for it, or, the native token, at its own address. */
async function holdingAddress({
	owner,
	token,
}: {
	owner: SolanaAddress;
	token: SolanaAddress;
}): Promise<SolanaAddress> {
	return token === solanaNativeToken ? owner : tokenAccountOf({ owner, token });
}

/** The same, by the words of an order. */
export async function holdingOf(
	owner: Hex,
	token: Hex,
): Promise<{ address: SolanaAddress; token: SolanaAddress }> {
	const address = await holdingAddress({ owner: fromSolanaWord(owner), token: fromSolanaWord(token) });
	return { address, token: fromSolanaWord(token) };
}

/** What each of our accounts holds at one final slot, which is not below the one that is asked for. */
export async function finalHoldings(
	{ rpc, accounts }: AuditedSolana,
	{ minSlot }: { minSlot: number },
): Promise<{ slot: number; holdings: Map<SolanaAddress, bigint> }> {
	const { context, value } = await rpc
		.getMultipleAccounts(
			accounts.map(({ address }) => address),
			{ commitment: "finalized", encoding: "base64", minContextSlot: BigInt(minSlot) },
		)
		.send();
	const holdings = accounts.map(({ token, address }, i): [SolanaAddress, bigint] => {
		const account = value[i];
		if (!account) return [address, 0n];
		if (token === solanaNativeToken) return [address, account.lamports];
		if (account.owner !== TOKEN_PROGRAM_ADDRESS) throw new Error(`${address} is no token account`);
		const { mint, amount } = getTokenDecoder().decode(Buffer.from(account.data[0], "base64"));
		if (mint !== token) throw new Error(`${address} is of another token`);
		return [address, amount];
	});
	return { slot: Number(context.slot), holdings: new Map(holdings) };
}
