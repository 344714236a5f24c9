import { vaultPath } from "@geoswap/protocol";
import { type Address, BaseError, type Client, type Hex, isAddressEqual, parseAbi } from "viem";
import { readContract, simulateContract } from "viem/actions";
import type { DeployConfig } from "./deploy-config.ts";
import { DeployError } from "./deploy-error.ts";
import { doesNotAnswer } from "./does-not-answer.ts";
import { expectCode } from "./expect-code.ts";

const peripheryAbi = parseAbi([
	"function factory() view returns (address)",
	"function WETH9() view returns (address)",
]);
const routerAbi = parseAbi(["function positionManager() view returns (address)"]);
const quoterAbi = parseAbi([
	"function quoteExactInput(bytes path, uint256 amountIn) returns (uint256 amountOut, uint160[] sqrtPriceX96AfterList, uint32[] initializedTicksCrossedList, uint256 gasEstimate)",
]);

/** Throws unless router and quoter belong to the factory and the wrapped native token that the config names. */
export async function checkUniswap(
	client: Client,
	{ uniswap, wrappedNative }: Pick<DeployConfig, "uniswap" | "wrappedNative">,
): Promise<void> {
	await Promise.all([
		expectCode(client, "Uniswap's factory", uniswap.factory),
		expectPeriphery("Uniswap's SwapRouter02", uniswap.router),
		expectPeriphery("Uniswap's QuoterV2", uniswap.quoterV2),
	]);
	// The quoter and the first SwapRouter, whose calls differ, have the same factory but lack this function.
	await readContract(client, {
		address: uniswap.router,
		abi: routerAbi,
		functionName: "positionManager",
	}).catch((cause) => {
		throw doesNotAnswer("Uniswap's SwapRouter02", uniswap.router, cause);
	});

	async function expectPeriphery(name: string, address: Address) {
		await expectCode(client, name, address);
		const [actualFactory, actualWrappedNative] = await Promise.all([
			readContract(client, { address, abi: peripheryAbi, functionName: "factory" }),
			readContract(client, { address, abi: peripheryAbi, functionName: "WETH9" }),
		]).catch((cause) => {
			throw doesNotAnswer(name, address, cause);
		});
		if (!isAddressEqual(actualFactory, uniswap.factory)) {
			throw new DeployError(`${name} at ${address} belongs to the factory ${actualFactory}`, {
				next: `correct uniswap in the config, which names the factory ${uniswap.factory}`,
			});
		}
		if (!isAddressEqual(actualWrappedNative, wrappedNative)) {
			throw new DeployError(`${name} at ${address} has the wrapped native token ${actualWrappedNative}`, {
				next: `correct wrappedNative in the config, which is ${wrappedNative}`,
			});
		}
	}
}

/**
 * Throws unless every path buys something for one settlement token, which only a real quoter over real pools can show.
 */
export async function checkPaths(client: Client, config: DeployConfig): Promise<void> {
	const { assets, settlementToken, uniswap } = config;
	const settlement = assets.find(({ address }) => address === settlementToken);
	if (!settlement) throw new Error("the settlement token is not among the assets");
	const amountIn = 10n ** BigInt(settlement.decimals);
	await Promise.all(
		assets.flatMap(({ symbol, address, paths }) =>
			paths.map(async (fees) => {
				const amountOut = await quote(vaultPath(config, { asset: address, fees })).catch((cause) => {
					const reason = cause instanceof BaseError ? `: ${cause.shortMessage}` : "";
					throw pathProblem(`cannot be quoted by ${uniswap.quoterV2}${reason}`, symbol, fees, cause);
				});
				if (amountOut === 0n) throw pathProblem(`buys nothing for 1 ${settlement.symbol}`, symbol, fees);
			}),
		),
	);

	async function quote(path: Hex): Promise<bigint> {
		const { result } = await simulateContract(client, {
			address: uniswap.quoterV2,
			abi: quoterAbi,
			functionName: "quoteExactInput",
			args: [path, amountIn],
		});
		return result[0];
	}
}

function pathProblem(what: string, symbol: string, fees: number[], cause?: unknown): DeployError {
	return new DeployError(`the path [${fees.join(", ")}] to ${symbol} ${what}`, {
		next: `correct the paths of ${symbol} in the config: each must be a list of fee tiers of pools that exist and have liquidity. If they are right, correct uniswap.quoterV2`,
		cause,
	});
}
