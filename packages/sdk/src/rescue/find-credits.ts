import { type ChainDeployment, geoEscrowAbi } from "@geoswap/protocol";
import type { Address, PublicClient } from "viem";
import { readContract } from "viem/actions";

/**
 * An amount that an escrow owes a wallet because the token refused a payment, as for a frozen wallet or a paused token.
 */
export type Credit = { escrow: Address; token: Address; amount: bigint };

/** Finds what the escrows of a chain owe a wallet, in these tokens and in all that the deployment file lists. */
export async function findCredits(
	client: PublicClient,
	{ chain, wallet, tokens = [] }: { chain: ChainDeployment; wallet: Address; tokens?: readonly Address[] },
): Promise<Credit[]> {
	const { contracts, assets } = chain;
	const listed = [...assets.map(({ address }) => address), ...tokens];
	const unique = [...new Map(listed.map((token) => [token.toLowerCase(), token])).values()];
	const pairs = [contracts.escrow, ...contracts.earlierEscrows].flatMap((escrow) =>
		unique.map((token) => ({ escrow, token })),
	);
	const credits = await Promise.all(
		pairs.map(async ({ escrow, token }) => ({
			escrow,
			token,
			amount: await readContract(client, {
				address: escrow,
				abi: geoEscrowAbi,
				functionName: "credit",
				args: [token, wallet],
			}),
		})),
	);
	return credits.filter(({ amount }) => amount > 0n);
}
