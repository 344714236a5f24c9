import { CliError } from "../cli-error.ts";
import { type Call, openConfig } from "../context.ts";
import { notSent, openPayer } from "../payer.ts";
import { findChain } from "../pinned-assets.ts";
import { readEndpoints } from "../read-endpoints.ts";
import { readEvmAccount } from "../read-keys.ts";
import { endpointOf, withEvmNode } from "../with-evm-node.ts";

/** Removes the wallet's delegation on a chain by a transaction of its own, or of a second wallet, without the service. */
export async function undelegateCommand(
	call: Call,
	{ chain: text, rpc }: { chain: string; rpc?: string[] },
): Promise<void> {
	const { config: stored, keys } = await openConfig(call);
	const config = { ...stored, rpc: { ...stored.rpc, ...readEndpoints(stored.pins, rpc ?? []) } };
	const chain = findChain(config.pins, text);
	if (chain.kind === "solana") {
		throw new CliError(`On ${chain.name} wallets are not delegated, so there is nothing to remove.`, {
			code: "USAGE",
			section: "exit-codes",
		});
	}
	const { chainId, name } = chain;
	const wallet = await readEvmAccount(keys);
	const payer = await openPayer(keys, endpointOf(config, chain));
	const { readDelegate, undelegate } = await import("@geoswap/sdk/rescue");
	const about = { chainId, chain: name, wallet: wallet.address };
	const { delegate, sent } = await withEvmNode(config, chain, async (client) => {
		const found = await readDelegate(client, wallet.address);
		if (found === undefined) return { delegate: undefined, sent: undefined };
		call.output.say(`removing the delegation to ${found}, paid for by ${payer.account.address}`);
		const hash = await undelegate(client, { wallet, payer, chainId }).catch((error: unknown) => {
			throw notSent(error, {
				payer: payer.account.address,
				code: "NOT_UNDELEGATED",
				otherwise:
					"The delegation was not removed. The wallet may have sent another transaction meanwhile: run the command again.",
			});
		});
		return { delegate: found, sent: hash };
	});
	await call.output.result(
		{ ...about, delegated: false, ...(delegate && { was: delegate }), ...(sent && { txHash: sent }) },
		[
			["wallet", `${wallet.address} on ${name}`],
			["delegated", sent ? `no longer: it was delegated to ${delegate}` : "no: there was nothing to remove"],
			...(sent ? [["sent", sent] satisfies [string, string]] : []),
		],
	);
}
