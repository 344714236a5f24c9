import { parseAbi } from "viem";

/** The functions used here of WETH9 and of the contracts that exist on development chains only. */
export const devTokenAbi = parseAbi([
	"function mint(address to, uint256 amount)",
	"function approve(address spender, uint256 amount)",
	"function transfer(address to, uint256 amount)",
]);

export const wrappedNativeAbi = parseAbi(["function deposit() payable"]);

export const devFeedAbi = parseAbi([
	"function setAnswer(int256 answer)",
	"function refresh()",
	"function latestRoundData() view returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)",
]);
