export const blockGasLimit = 60_000_000n;
