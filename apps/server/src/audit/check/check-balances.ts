import { type Amount, fromWord, type SwapStage, type SwapStatus, toWord } from "@geoswap/protocol";
import { getAddress, zeroAddress } from "viem";
import { type AuditedChain, allowancesAt, balancesAt } from "../read/audited-chain.ts";
import { type AuditedSwap, type Books, inventoryKey } from "../read/read-books.ts";
import { type ChainReading, holdingKey } from "../read/read-chain-events.ts";
import type { Finding, TokenReport } from "../read/report.ts";

/**
 * I1 and I2: the balances of escrows match the orders at the last block that was read, and those of vaults match the
 * books at the block up to which the chain is booked. Checks only tokens of the deployment, because anyone may open an
 * order with a token that reports any balance.
 */
export async function checkBalances(
	chain: AuditedChain,
	{ block, reading, books }: { block: number; reading: ChainReading; books: Books },
): Promise<{ tokens: TokenReport[]; breaches: Finding[] }> {
	const { chainId, deployment, escrows, vaults } = chain;
	const tokens = [...new Set(deployment.assets.map((asset) => getAddress(asset.address)))];
	const [inEscrows, inVaults] = await Promise.all([
		balancesAt(chain, { tokens, holders: escrows, block: reading.upTo }),
		balancesAt(chain, { tokens, holders: vaults, block }),
	]);
	const owedOf = owedBy(reading);
	const breaches: Finding[] = [];
	const reports = tokens.map((token, i): TokenReport => {
		const symbol = deployment.assets.find((asset) => getAddress(asset.address) === token)?.symbol ?? token;
		const held = inEscrows[i] ?? [];
		const owed = escrows.map((escrow) => owedOf.get(holdingKey(toWord(escrow), toWord(token))) ?? 0n);
		let donated = 0n;
		escrows.forEach((escrow, j) => {
			const surplus = (held[j] ?? 0n) - (owed[j] ?? 0n);
			if (surplus >= 0n) donated += surplus;
			else {
				const message = `escrow ${escrow} on chain ${chainId} is short of ${-surplus} ${symbol}`;
				breaches.push({ invariant: "I1", message, chainIds: [chainId], token, amount: String(-surplus) });
			}
		});
		const inventoryBooked = books.inventory.get(inventoryKey(chainId, token)) ?? 0n;
		const inventoryActual = sum(inVaults[i] ?? []);
		if (inventoryActual < inventoryBooked) {
			const message = `the vaults on chain ${chainId} hold ${inventoryBooked - inventoryActual} ${symbol} less than in the books`;
			const amount = String(inventoryBooked - inventoryActual);
			breaches.push({ invariant: "I2", message, chainIds: [chainId], token, amount });
		}
		return {
			token,
			symbol,
			escrowExpected: String(sum(owed)),
			escrowActual: String(sum(held)),
			inventoryBooked: String(inventoryBooked),
			inventoryActual: String(inventoryActual),
			donated: String(donated),
			unbooked: String(inventoryActual > inventoryBooked ? inventoryActual - inventoryBooked : 0n),
		};
	});
	return { tokens: reports, breaches };
}

/** Sums, by escrow and token, the inputs of open orders and the credits that are not claimed. */
function owedBy({
	events: { opened, released, refunded },
	strangers,
	credits,
}: ChainReading): Map<string, bigint> {
	const decided = new Set([...released, ...refunded].map(({ orderId }) => orderId));
	const sums = new Map(strangers.owed);
	const add = (key: string, amount: Amount) => sums.set(key, (sums.get(key) ?? 0n) + amount);
	for (const { orderId, order } of opened) {
		if (!decided.has(orderId)) add(holdingKey(order.escrow, order.inputToken), order.inputAmount);
	}
	for (const [key, amount] of credits) add(key, amount);
	return sums;
}

function sum(amounts: readonly bigint[]): bigint {
	return amounts.reduce((total, amount) => total + amount, 0n);
}

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

/** The diagram in docs/flow.md, written a second time, so that a mistake in the service's own table is found. */
const picture: Record<string, readonly string[]> = {
	opening: ["deposited", "settled", "failed"],
	deposited: ["opening", "delivering", "refunding"],
	delivering: ["opening", "settled", "refunding"],
	refunding: ["opening", "settled", "refunded"],
} satisfies Partial<Record<SwapStage, readonly (SwapStage | SwapStatus)[]>>;

/** I7: a swap reached its stage by steps of the one transition table, and none follows a terminal status. */
export function checkMoves({ id, orderId, order, status, stage, moves }: AuditedSwap): Finding[] {
	const finding = (message: string): Finding => ({
		invariant: "I7",
		message: `swap ${id} ${message}`,
		chainIds: [...new Set([Number(order.originChainId), Number(order.destinationChainId)])],
		orderId,
		swapId: id,
	});
	const findings: Finding[] = [];
	if (moves[0] !== "opening") findings.push(finding(`began as ${moves[0]}`));
	for (let i = 1; i < moves.length; i++) {
		const [from = "", to = ""] = [moves[i - 1], moves[i]];
		if (!picture[from]?.includes(to)) findings.push(finding(`went from ${from} to ${to}`));
	}
	const last = moves.at(-1);
	const is = status === "pending" ? stage : status;
	if (last !== is) findings.push(finding(`is ${is}, but its last step was to ${last}`));
	return findings;
}
