// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @notice The one call that the vault makes of Uniswap's SwapRouter02.
interface ISwapRouter {
    struct ExactInputParams {
        /// Token, fee, token, fee, token: 20 and 3 bytes each.
        bytes path;
        address recipient;
        uint256 amountIn;
        uint256 amountOutMinimum;
    }

    /// @notice Swaps all of `amountIn` along `path`.
    function exactInput(ExactInputParams calldata params) external payable returns (uint256 amountOut);
}
