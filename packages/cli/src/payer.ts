import type { Account, Address, WalletClient } from "viem";
import { CliError, type CliErrorCode } from "./cli-error.ts";
import type { Context } from "./context.ts";
import { exitCode } from "./exit-code.ts";
import { parseEvmKey, readEvmAccount } from "./read-keys.ts";

export type Payer = WalletClient & { account: Account };

/** The variable with the key of a second wallet, which pays the gas of a transaction and gets nothing in return. */
const payerVariable = "GEOSWAP_PAYER_KEY";

/** Returns the wallet that pays the gas: the second one if its key is set, else the wallet itself. */
export async function openPayer(keys: Context["keys"], url: string): Promise<Payer> {
	const text = keys.env[payerVariable]?.trim();
	const account = text ? await parsePayerKey(text) : await readEvmAccount(keys);
	const { createWalletClient, http } = await import("viem");
	return createWalletClient({ account, transport: http(url) });
}

async function parsePayerKey(text: string): Promise<Account> {
	return parseEvmKey(text).catch(() => {
		throw new CliError(`${payerVariable} is not 32 bytes of hex. Set it again.`, {
			code: "INVALID_KEY",
			next: "check_key",
			section: "keys",
		});
	});
}

/** Explains why a transaction was not executed. The library's message may have an endpoint's key in it. */
export function notSent(
	error: unknown,
	{ payer, code, otherwise }: { payer: Address; code: CliErrorCode; otherwise: string },
): CliError {
	const text = error instanceof Error ? error.message : "";
	const isPoor = /insufficient funds|exceeds the balance|gas required exceeds/i.test(text);
	return new CliError(
		isPoor
			? `${payer} has too little of the chain's own token for the gas. Fund it, or set ${payerVariable} to the key of a wallet that pays.`
			: otherwise,
		{
			code,
			exit: exitCode.refused,
			next: isPoor ? "fund_wallet" : "retry",
			retryable: true,
			section: "exit-codes",
		},
	);
}
