import { addCctp } from "./cctp/add-cctp.ts";
import type { DevnetChain, TestChain } from "./devnet-chain.ts";
import { setUpChain } from "./set-up-chain.ts";

/** Sets up empty chains, and the ways by which their vaults move USDC to each other. */
export async function setUpChains(
	chains: readonly DevnetChain[],
	onProgress: (line: string) => void = () => {},
): Promise<TestChain[]> {
	const setUp = await Promise.all(
		chains.map(async (chain) => {
			const { name } = chain.chain;
			return { ...chain, deployment: await setUpChain(chain, (line) => onProgress(`${name}: ${line}`)) };
		}),
	);
	const linked = await addCctp(setUp);
	onProgress("linked the vaults by models of Circle's contracts");
	return linked;
}
