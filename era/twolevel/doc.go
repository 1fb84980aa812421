package twolevel
