import { fromWord } from "@geoswap/protocol";
import { zeroAddress } from "viem";
import { type AuditedChain, allowancesAt } from "../read/audited-chain.ts";
import type { AuditedSwap } from "../read/read-books.ts";
import type { Finding } from "../read/report.ts";

/** I13: a swap leaves its wallet with no allowance to the service's escrow. */
export async function checkAllowances(
	chain: AuditedChain,
	{ swaps, block }: { swaps: readonly AuditedSwap[]; block: number },
): Promise<{ checked: number; breaches: Finding[] }> {
	const grants = new Map(
		swaps
			.filter(({ order, isEnded }) => isEnded && order.originChainId === BigInt(chain.chainId))
			.map(({ order }) => ({
				token: fromWord(order.inputToken),
				wallet: fromWord(order.wallet),
				spender: fromWord(order.escrow),
			}))
			.filter(({ token }) => token !== zeroAddress)
			.map((grant) => [Object.values(grant).join(), grant]),
	);
	const list = [...grants.values()];
	const allowances = await allowancesAt(chain, { grants: list, block });
	const breaches = list.flatMap(({ token, wallet }, i): Finding[] => {
		const left = allowances[i] ?? 0n;
		const message = `wallet ${wallet} still lets the escrow on chain ${chain.chainId} take ${left} of ${token}`;
		if (left === 0n) return [];
		const amount = { token, amount: String(left) };
		// A wallet may approve any spender.
		return [{ invariant: "I13", message, chainIds: [chain.chainId], ...amount, pauses: false }];
	});
	return { checked: list.length, breaches };
}
