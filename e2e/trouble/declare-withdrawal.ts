import { serverCommand } from "@geoswap/devnet";

/** Declares what an operator takes out of a vault or a relayer, without which the audit reports a breach. */
export async function declareWithdrawal(
	serverEnvironment: Record<string, string>,
	{
		chainId,
		symbol,
		amount,
		to,
		from,
	}: {
		chainId: number;
		symbol: string;
		/** In whole tokens. */
		amount: string;
		to: string;
		/** The vault by default. */
		from?: string;
	},
): Promise<void> {
	await serverCommand(serverEnvironment, [
		...["treasury", "withdraw", "--chain", String(chainId), "--token", symbol, "--amount", amount],
		...["--to", to, ...(from === undefined ? [] : ["--from", from]), "--by", "ada", "--reason", "a test"],
	]);
}
