"""What people build with: containers, layers, initializers."""
