import { parseAbi } from "viem";

/** The part of Uniswap v3 that is used here. The artifacts are JSON, which has no types. */
export const factoryAbi = parseAbi([
	"function enableFeeAmount(uint24 fee, int24 tickSpacing)",
	"function getPool(address tokenA, address tokenB, uint24 fee) view returns (address)",
]);

export const poolAbi = parseAbi([
	"function token0() view returns (address)",
	"function liquidity() view returns (uint128)",
	"function slot0() view returns (uint160 sqrtPriceX96, int24 tick, uint16 observationIndex, uint16 observationCardinality, uint16 observationCardinalityNext, uint8 feeProtocol, bool unlocked)",
]);

export const positionManagerAbi = parseAbi([
	"struct MintParams { address token0; address token1; uint24 fee; int24 tickLower; int24 tickUpper; uint256 amount0Desired; uint256 amount1Desired; uint256 amount0Min; uint256 amount1Min; address recipient; uint256 deadline; }",
	"function createAndInitializePoolIfNecessary(address token0, address token1, uint24 fee, uint160 sqrtPriceX96) payable returns (address pool)",
	"function mint(MintParams params) payable returns (uint256 tokenId, uint128 liquidity, uint256 amount0, uint256 amount1)",
	"function multicall(bytes[] data) payable returns (bytes[] results)",
]);

export const routerAbi = parseAbi([
	"struct ExactInputSingleParams { address tokenIn; address tokenOut; uint24 fee; address recipient; uint256 amountIn; uint256 amountOutMinimum; uint160 sqrtPriceLimitX96; }",
	"struct ExactInputParams { bytes path; address recipient; uint256 amountIn; uint256 amountOutMinimum; }",
	"function exactInputSingle(ExactInputSingleParams params) payable returns (uint256 amountOut)",
	"function exactInput(ExactInputParams params) payable returns (uint256 amountOut)",
]);

export const quoterAbi = parseAbi([
	"function quoteExactInput(bytes path, uint256 amountIn) returns (uint256 amountOut, uint160[] sqrtPriceX96AfterList, uint32[] initializedTicksCrossedList, uint256 gasEstimate)",
]);
