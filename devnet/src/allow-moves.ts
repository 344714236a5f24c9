import { geoVaultAbi } from "@geoswap/protocol";
import { encodeFunctionData, parseEther, parseUnits, zeroAddress } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import type { TestChain } from "./devnet-chain.ts";
import { deriveDevnetKeys } from "./devnet-keys.ts";
import { devnetNative, devnetTokens } from "./devnet-tokens.ts";
import { sendAllAs } from "./send-as.ts";
import { setCap } from "./set-cap.ts";

/** How far a trade may end below the feeds' prices. More than the fee of a pool and what its feed lags behind. */
const maxSlippageBps = { stable: 50, volatile: 100 } as const;

/** Lets the treasurer's key trade every asset, and send gas to each relayer and to itself, within caps. */
export async function allowMoves(chain: TestChain): Promise<void> {
	const { deployer, relayers, treasurer } = deriveDevnetKeys();
	const { assets, contracts } = chain.deployment;
	const { vault } = contracts;
	await sendAllAs(chain, privateKeyToAddress(deployer), [
		...assets.flatMap(({ symbol, address, decimals, kind, feed }) => {
			const { tradePerHour } = [devnetNative, ...devnetTokens].find((one) => one.symbol === symbol) ?? {};
			if (!tradePerHour || !feed) throw new Error(`the devnet's ${symbol} has no cap on trades or no feed`);
			const args = [address, feed.address, feed.heartbeatSeconds, maxSlippageBps[kind]] as const;
			return [
				setCap(vault, { kind: "trade", token: address, perHour: parseUnits(tradePerHour, decimals) }),
				{ to: vault, data: encodeFunctionData({ abi: geoVaultAbi, functionName: "setFeed", args }) },
			];
		}),
		...[...relayers, treasurer].map((key) =>
			setCap(vault, {
				kind: "send",
				token: zeroAddress,
				to: privateKeyToAddress(key),
				perHour: parseEther(devnetNative.sendPerHour),
			}),
		),
	]);
}
