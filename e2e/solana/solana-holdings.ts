import { decodeOrderAccount, programAccountSizes, type SolanaDeployment } from "@geoswap/protocol";
import { createSolanaRpc, type Rpc, type SolanaRpcApi } from "@solana/kit";
import { solanaBalance } from "./solana-balance.ts";

export type SolanaHoldings = {
	/** The vault's balance of each asset, by symbol. */
	vault: Record<string, string>;
	/** The inputs of orders that are not paid out, by symbol. */
	escrow: Record<string, string>;
	/** The lamports that the vault has put into records of orders. */
	inRecords: bigint;
};

/** Returns what the vault and the orders in the program hold. */
export async function solanaHoldings({
	rpcUrl,
	deployment,
}: {
	rpcUrl: string;
	deployment: SolanaDeployment;
}): Promise<SolanaHoldings> {
	const rpc = createSolanaRpc(rpcUrl);
	const [vault, orders, records] = await Promise.all([
		Promise.all(
			deployment.assets.map(async ({ symbol, address }) => [
				symbol,
				String(await solanaBalance({ rpc }, address, deployment.program.vault)),
			]),
		),
		accountsOf(rpc, deployment, programAccountSizes.order),
		accountsOf(rpc, deployment, programAccountSizes.record),
	]);
	const unpaid = orders
		.flatMap(({ data }) => decodeOrderAccount(data) ?? [])
		.filter(({ state, isPaid }) => state !== "prepared" && !isPaid);
	const escrow = deployment.assets.map(({ symbol, address }) => {
		const inputs = unpaid.filter(({ token }) => token === address).map(({ inputAmount }) => inputAmount);
		return [symbol, String(inputs.reduce((sum, amount) => sum + amount, 0n))];
	});
	return {
		vault: Object.fromEntries(vault),
		escrow: Object.fromEntries(escrow),
		inRecords: records.reduce((sum, { lamports }) => sum + lamports, 0n),
	};
}

async function accountsOf(
	rpc: Rpc<SolanaRpcApi>,
	{ program }: SolanaDeployment,
	size: number,
): Promise<{ lamports: bigint; data: Uint8Array }[]> {
	const found = await rpc
		.getProgramAccounts(program.address, {
			commitment: "confirmed",
			encoding: "base64",
			filters: [{ dataSize: BigInt(size) }],
		})
		.send();
	return found.map(({ account }) => ({
		lamports: account.lamports,
		data: new Uint8Array(Buffer.from(account.data[0], "base64")),
	}));
}
