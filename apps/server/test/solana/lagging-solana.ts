import type { SolanaChain } from "../../src/chain/solana/connect-solana.ts";

type Rpc = SolanaChain["rpc"];

/**
 * Returns the chain behind one address with several nodes. The state of transactions comes from a node that stands at
 * slot `asOf` and has no blocks before `first`. All else comes from a node that is up to date.
 */
export function laggingSolana(
	chain: SolanaChain,
	{ asOf = Number.MAX_SAFE_INTEGER, first = 0 }: { asOf?: number; first?: number },
): SolanaChain {
	const knows = ({ slot }: { slot: bigint }) => slot <= BigInt(asOf) && slot >= BigInt(first);
	const rpc = {
		getSignatureStatuses: (...args: Parameters<Rpc["getSignatureStatuses"]>) => ({
			send: async () => {
				const { context, value } = await chain.rpc.getSignatureStatuses(...args).send();
				const slot = BigInt(Math.min(Number(context.slot), asOf));
				return { context: { ...context, slot }, value: value.map((one) => (one && knows(one) ? one : null)) };
			},
		}),
		getTransaction: (...args: Parameters<Rpc["getTransaction"]>) => ({
			send: async () => {
				const found = await chain.rpc.getTransaction(...args).send();
				return found && knows(found) ? found : null;
			},
		}),
		getFirstAvailableBlock: () => ({ send: async () => BigInt(first) }),
	};
	return {
		...chain,
		rpc: new Proxy(chain.rpc, {
			get: (target, name, receiver) => Reflect.get(name in rpc ? rpc : target, name, receiver),
		}),
	};
}
