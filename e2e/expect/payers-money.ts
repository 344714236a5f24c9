import { solanaNativeToken } from "@geoswap/protocol";
import { privateKeyToAddress } from "viem/accounts";
import { connectDatabase } from "../environment/connect-database.ts";
import type { Environment } from "../environment/environment.ts";
import { solanaBalance } from "../solana/solana-balance.ts";

/**
 * Returns, by chain and in its native token, the balances of relayers and fee payers plus their spending according to
 * the books. It stays constant if the books record exactly what was spent.
 */
export async function payersMoney(environment: Environment): Promise<Map<number, bigint>> {
	const { origin, destination, solana, keys, databaseUrl } = environment;
	const held = await Promise.all([
		...[origin, destination].map(async ({ chainId, publicClient }) => {
			const balances = keys.relayers.map((key) =>
				publicClient.getBalance({ address: privateKeyToAddress(key) }),
			);
			return [chainId, sum(await Promise.all(balances))] as const;
		}),
		(async () => {
			const balances = solana.deployment.feePayers.map((payer) =>
				solanaBalance(solana, solanaNativeToken, payer),
			);
			return [solana.chainId, sum(await Promise.all(balances))] as const;
		})(),
	]);
	const database = await connectDatabase(databaseUrl);
	try {
		const spent = await database.query<{ chain: string; amount: string }>(
			"select chain_id as chain, -sum(amount) as amount from entries where account = 'relayer' group by chain_id",
		);
		const spentOn = (chainId: number) =>
			BigInt(spent.find(({ chain }) => chain === String(chainId))?.amount ?? 0);
		return new Map(held.map(([chainId, amount]) => [chainId, amount + spentOn(chainId)]));
	} finally {
		await database.end();
	}
}

function sum(amounts: readonly bigint[]): bigint {
	return amounts.reduce((total, amount) => total + amount, 0n);
}
