import { createRequire } from "node:module";
import {
	type Abi,
	type Address,
	encodeDeployData,
	encodeFunctionData,
	getContractAddress,
	type Hex,
	maxUint256,
	zeroAddress,
} from "viem";
import { deployCode } from "./deploy-code.ts";
import type { DevnetChain } from "./devnet-chain.ts";
import { type DevnetPool, devnetPools, devnetToken, type PricedToken, unitsForUsd } from "./devnet-tokens.ts";
import { integerSqrt } from "./integer-sqrt.ts";
import { sendAs } from "./send-as.ts";
import { factoryAbi, positionManagerAbi } from "./uniswap-abi.ts";

const require = createRequire(import.meta.url);

const maxTick = 887_272;

export type Uniswap = { factory: Address; router: Address; quoterV2: Address; positionManager: Address };

/** Deploys Uniswap v3 from its published artifacts. `owner` owns the factory. */
export async function deployUniswap(
	chain: DevnetChain,
	owner: Address,
	wrappedNative: Address,
): Promise<Uniswap> {
	const nonce = await chain.publicClient.getTransactionCount({ address: owner });
	const factory = getContractAddress({ from: owner, nonce: BigInt(nonce) });
	// CREATE2 is not used, because the factory's deployer owns it, and its owner enables the lowest fee.
	await sendAs(chain, owner, { data: uniswapInitCode.factory() });
	await enableLowestFee(chain, owner, factory);
	const make = (code: Hex) => deployCode(chain, owner, code);
	const positionManager = await make(uniswapInitCode.positionManager(factory, wrappedNative));
	const router = await make(uniswapInitCode.router(factory, positionManager, wrappedNative));
	const quoterV2 = await make(uniswapInitCode.quoterV2(factory, wrappedNative));
	return { factory, router, quoterV2, positionManager };
}

/** Lets the factory create pools with the lowest fee, which is not enabled by default. */
export async function enableLowestFee(chain: DevnetChain, owner: Address, factory: Address): Promise<void> {
	const data = encodeFunctionData({ abi: factoryAbi, functionName: "enableFeeAmount", args: [100, 1] });
	await sendAs(chain, owner, { to: factory, data });
}

/** The creation code of Uniswap's contracts, from its published artifacts. */
export const uniswapInitCode = {
	factory: () =>
		initCode(require("@uniswap/v3-core/artifacts/contracts/UniswapV3Factory.sol/UniswapV3Factory.json"), []),
	// The descriptor is left out. It would draw pictures of the positions, which are unused here.
	positionManager: (factory: Address, wrappedNative: Address) =>
		initCode(
			require("@uniswap/v3-periphery/artifacts/contracts/NonfungiblePositionManager.sol/NonfungiblePositionManager.json"),
			[factory, wrappedNative, zeroAddress],
		),
	router: (factory: Address, positionManager: Address, wrappedNative: Address) =>
		initCode(
			require("@uniswap/swap-router-contracts/artifacts/contracts/SwapRouter02.sol/SwapRouter02.json"),
			[zeroAddress, factory, positionManager, wrappedNative],
		),
	quoterV2: (factory: Address, wrappedNative: Address) =>
		initCode(require("@uniswap/swap-router-contracts/artifacts/contracts/lens/QuoterV2.sol/QuoterV2.json"), [
			factory,
			wrappedNative,
		]),
	/** The first versions, which are easily mistaken for the second ones. */
	quoterV1: (factory: Address, wrappedNative: Address) =>
		initCode(require("@uniswap/v3-periphery/artifacts/contracts/lens/Quoter.sol/Quoter.json"), [
			factory,
			wrappedNative,
		]),
	routerV1: (factory: Address, wrappedNative: Address) =>
		initCode(require("@uniswap/v3-periphery/artifacts/contracts/SwapRouter.sol/SwapRouter.json"), [
			factory,
			wrappedNative,
		]),
} as const;

/** Creates the devnet's pools at the feeds' prices and fills them. `provider` holds the tokens and has approved. */
export async function createPools(
	chain: DevnetChain,
	provider: Address,
	positionManager: Address,
	addressOf: (symbol: string) => Address,
): Promise<void> {
	for (const { symbols, ...pool } of devnetPools) {
		const [one, other] = symbols.map((symbol) => ({ ...devnetToken(symbol), address: addressOf(symbol) }));
		if (!one || !other) throw new Error("a pool must have two tokens");
		await createPool(chain, provider, positionManager, { ...pool, tokens: [one, other] });
	}
}

type PoolToken = PricedToken & { address: Address };

/** Creates a pool at the tokens' prices and fills it. */
export async function createPool(
	chain: DevnetChain,
	provider: Address,
	positionManager: Address,
	pool: Omit<DevnetPool, "symbols"> & { tokens: readonly [PoolToken, PoolToken] },
): Promise<void> {
	await sendAs(chain, provider, { to: positionManager, data: poolCreation(pool, provider) });
}

function poolCreation(
	pool: Omit<DevnetPool, "symbols"> & { tokens: readonly [PoolToken, PoolToken] },
	provider: Address,
): Hex {
	const [token0, token1] = pool.tokens.toSorted((a, b) => (BigInt(a.address) < BigInt(b.address) ? -1 : 1));
	if (!token0 || !token1) throw new Error("a pool must have two tokens");
	const sqrtPriceX96 = integerSqrt((unitsForUsd(token1, "1000000") << 192n) / unitsForUsd(token0, "1000000"));
	const tick = Math.log((Number(sqrtPriceX96) / 2 ** 96) ** 2) / Math.log(1.0001);
	const onSpacing = (tick: number) => Math.trunc(tick / pool.tickSpacing) * pool.tickSpacing;

	const create = encodeFunctionData({
		abi: positionManagerAbi,
		functionName: "createAndInitializePoolIfNecessary",
		args: [token0.address, token1.address, pool.fee, sqrtPriceX96],
	});
	const mints = pool.positions.map(({ usdPerSide, widthTicks }) =>
		encodeFunctionData({
			abi: positionManagerAbi,
			functionName: "mint",
			args: [
				{
					token0: token0.address,
					token1: token1.address,
					fee: pool.fee,
					tickLower: onSpacing(widthTicks === "full" ? -maxTick : tick - widthTicks),
					tickUpper: onSpacing(widthTicks === "full" ? maxTick : tick + widthTicks),
					amount0Desired: unitsForUsd(token0, usdPerSide),
					amount1Desired: unitsForUsd(token1, usdPerSide),
					amount0Min: 0n,
					amount1Min: 0n,
					recipient: provider,
					deadline: maxUint256,
				},
			],
		}),
	);
	return encodeFunctionData({
		abi: positionManagerAbi,
		functionName: "multicall",
		args: [[create, ...mints]],
	});
}

function initCode({ abi, bytecode }: { abi: Abi; bytecode: Hex }, args: unknown[]): Hex {
	return args.length === 0 ? bytecode : encodeDeployData({ abi, bytecode, args });
}
