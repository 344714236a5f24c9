// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @dev A plain token that remembers who moved how much to whom, so that tests need not rely on events.
contract Token {
    event Transfer(address indexed from, address indexed to, uint256 amount);

    error InsufficientBalance();
    error InsufficientAllowance();

    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;
    /// What left `from` for `to`, ever.
    mapping(address from => mapping(address to => uint256)) public sent;
    /// What of it arrived.
    mapping(address from => mapping(address to => uint256)) public arrived;
    uint8 public decimals = 6;

    function setDecimals(uint8 value) external {
        decimals = value;
    }

    function mint(address to, uint256 amount) external {
        balanceOf[to] += amount;
    }

    function approve(address spender, uint256 amount) public virtual returns (bool) {
        allowance[msg.sender][spender] = amount;
        return true;
    }

    function transfer(address to, uint256 amount) public virtual returns (bool) {
        _move(msg.sender, to, amount);
        return true;
    }

    function transferFrom(address from, address to, uint256 amount) public virtual returns (bool) {
        uint256 allowed = allowance[from][msg.sender];
        if (allowed < amount) revert InsufficientAllowance();
        allowance[from][msg.sender] = allowed - amount;
        _move(from, to, amount);
        return true;
    }

    function _move(address from, address to, uint256 amount) internal virtual {
        _move(from, to, amount, 0);
    }

    function _move(address from, address to, uint256 amount, uint256 fee) internal {
        if (balanceOf[from] < amount) revert InsufficientBalance();
        balanceOf[from] -= amount;
        balanceOf[to] += amount - fee;
        sent[from][to] += amount;
        arrived[from][to] += amount - fee;
        emit Transfer(from, to, amount - fee);
    }
}
