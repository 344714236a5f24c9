import { CliError } from "../cli-error.ts";
import { type Call, openConfig } from "../context.ts";
import { formatAmount } from "../format-amount.ts";
import type { Line } from "../output.ts";
import { findChain, type PinnedChain, pinnedChains } from "../pinned-assets.ts";
import { readBalances } from "../read-balance.ts";
import { checkAddress, findOwnAddress, readWallet } from "../wallet.ts";

type Balance = { symbol: string; token: string; decimals: number; amount: string; shown: string };
/** The balances of a wallet on one chain, or why they could not be read. */
export type ChainBalances = { chainId: number; chain: string } & (
	| { wallet: string; balances: Balance[] }
	| { problem: { code: string; message: string } }
);

export async function balanceCommand(
	call: Call,
	{ chain: text, wallet: option }: { chain?: string; wallet?: string },
): Promise<void> {
	const { config, keys } = await openConfig(call);
	const { output } = call;
	const read = async (chain: PinnedChain, wallet: string): Promise<ChainBalances> => {
		const amounts = await readBalances(config, chain, { wallet, assets: chain.assets });
		const balances = chain.assets.map(({ symbol, address, decimals }, i) => {
			const amount = amounts[i] ?? 0n;
			return {
				symbol,
				token: address,
				decimals,
				amount: String(amount),
				shown: formatAmount(amount, decimals),
			};
		});
		return { chainId: chain.chainId, chain: chain.name, wallet, balances };
	};

	let answers: ChainBalances[];
	if (text !== undefined) {
		const chain = findChain(config.pins, text);
		answers = [await read(chain, await readWallet(keys, chain, option))];
	} else {
		// If one chain cannot be read, the others are still shown.
		answers = await Promise.all(
			pinnedChains(config.pins).map(async (chain): Promise<ChainBalances> => {
				try {
					const wallet = await walletOn(chain);
					return await read(chain, wallet);
				} catch (error) {
					if (!(error instanceof CliError)) throw error;
					const { code, message } = error;
					return { chainId: chain.chainId, chain: chain.name, problem: { code, message } };
				}
			}),
		);
	}
	await output.result({ chains: answers }, answers.flatMap(describe));

	async function walletOn(chain: PinnedChain): Promise<string> {
		if (option !== undefined) return checkAddress("--wallet", chain, option);
		const own = await findOwnAddress(keys, chain.kind);
		if (own !== undefined) return own;
		throw new CliError(
			`There is no key of a wallet on ${chain.name}. Set it, or pass a wallet with --wallet.`,
			{
				code: "NO_KEY",
				section: "keys",
			},
		);
	}
}

function describe(answer: ChainBalances): Line[] {
	const title = `${answer.chain} (${answer.chainId})`;
	if ("problem" in answer) return [title, ["  not read", answer.problem.message]];
	return [
		`${title}  ${answer.wallet}`,
		...answer.balances.map(({ symbol, shown }): Line => [`  ${symbol}`, shown]),
	];
}
